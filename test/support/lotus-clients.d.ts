declare module '@filecoin-shipyard/lotus-client-provider-nodejs' {
  export class NodejsProvider {
    constructor(url: string, options?: object);
  }
}
declare module '@filecoin-shipyard/lotus-client-schema' {
  export const mainnet: Record<'workerApi' | 'storageMiner', { readonly methods: object }>;
}
