import { z } from '@hono/zod-openapi';
import { defineMethod } from '../method.ts';

export const discover = defineMethod({
  summary: 'The OpenRPC document of these methods',
  scope: 'read',
  params: z.strictObject({}),
  result: z.looseObject({ openrpc: z.string() }),
  errors: [],
  run: (_, call) => call.documents.openrpc,
});
