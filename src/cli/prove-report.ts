import { fromHex } from '../core/bytes.ts';
import { snarkjsText } from '../formats/snarkjs-json.ts';
import { type Io, plain, writeFields, writeJson } from './io.ts';
import type { OutputFile } from './output-files.ts';
import { waterfallText } from './paint.ts';
import type { CircomReport, FilecoinReport, ProveInput, ProveReport, Wiring } from './wiring.ts';

export interface Outputs {
  readonly paths: readonly string[];
  files(report: ProveReport): readonly OutputFile[];
}

/** Where the parts of a proof go. */
export function outputsOf(
  input: ProveInput,
  named: { readonly out?: string; readonly public?: string },
): Outputs {
  const out = named.out ?? ('witness' in input ? 'proof.json' : 'proof.bin');
  const publicPath = named.public ?? 'public.json';
  return {
    paths: 'witness' in input ? [out, publicPath] : [out],
    files(report) {
      if ('kind' in report) return [{ path: out, content: fromHex('proof', report.proof) }];
      return [
        { path: out, content: snarkjsText(report.proof) },
        { path: publicPath, content: snarkjsText(report.public) },
      ];
    },
  };
}

interface Telling {
  readonly json: boolean;
  readonly wiring: Wiring;
  readonly io: Io;
}

export function tell(
  report: ProveReport,
  paths: readonly string[],
  { json, wiring, io }: Telling,
): void {
  if (json) {
    writeJson(io, toJson(report, paths));
    return;
  }
  const [out = '', publicPath = ''] = paths;
  writeFields(io, [
    ...('kind' in report ? filecoinFields(report, out) : circomFields(report, out, publicPath)),
    ['key', `sha256 ${report.keyDigest}`],
    ['backend', `${report.backend}, device ${plain(report.device)}`],
    ...(report.fallbackReason === undefined
      ? []
      : [['fallback', plain(report.fallbackReason)] as const]),
    ['verified', 'yes'],
  ]);
  if (io.stdout.isTTY === true) io.stdout.write(`\n${waterfallText(report.timeline, io, wiring)}`);
}

type Fields = readonly (readonly [string, string])[];

function circomFields(report: CircomReport, out: string, publicPath: string): Fields {
  const count = report.public.length;
  return [
    ['proof', plain(out)],
    ['public', `${plain(publicPath)} (${count} ${count === 1 ? 'input' : 'inputs'})`],
  ];
}

function filecoinFields(report: FilecoinReport, out: string): Fields {
  const count = report.partitions.length;
  return [
    ['proof', `${plain(out)} (${count} ${count === 1 ? 'partition' : 'partitions'})`],
    ['proves', `${report.kind}, ${plain(report.registeredProof)}`],
    ...(report.aggregated === false
      ? [['aggregated', 'no: the chain takes such proofs aggregated only'] as const]
      : []),
  ];
}

function toJson(report: ProveReport, [out, publicPath]: readonly string[]) {
  return {
    job_id: report.jobId,
    state: 'completed',
    ...('kind' in report ? filecoinJson(report) : { proof: report.proof, public: report.public }),
    key_digest: report.keyDigest,
    backend: report.backend,
    device: report.device,
    attempts: report.attempts,
    ...(report.fallbackReason !== undefined && { fallback_reason: report.fallbackReason }),
    verified: report.verified,
    timings: report.timings,
    files: { proof: out, ...(publicPath !== undefined && { public: publicPath }) },
  };
}

function filecoinJson({ kind, registeredProof, proof, partitions, aggregated }: FilecoinReport) {
  return {
    kind,
    registered_proof: registeredProof,
    proof,
    partitions: partitions.map(({ fallbackReason, ...rest }) => ({
      ...rest,
      ...(fallbackReason !== undefined && { fallback_reason: fallbackReason }),
    })),
    ...(aggregated === false && { aggregated }),
  };
}
