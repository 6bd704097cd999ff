import { z } from '@hono/zod-openapi';
import { ERRORS, type ErrorCode } from '../core/errors.ts';
import { MIB } from '../core/units.ts';
import { JOB_KINDS, JOB_STATES, type JobRequest } from '../jobs/job.ts';

/** Bytes of a payload inside a request, decoded. Larger ones are uploaded first. */
export const INLINE_PAYLOAD_BYTES_MAX = MIB;
/** Levels of client-given JSON; snarkjs's own has four. */
const JSON_LEVELS_MAX = 8;
/** Arrays and objects on one level of it: a verification key has three for each public input. */
const JSON_WIDTH_MAX = 20_000;

type Backend = NonNullable<JobRequest['backend']>;
const BACKENDS: { readonly [B in Backend]: B } = {
  cuda: 'cuda',
  cpu: 'cpu',
  'cpu-reference': 'cpu-reference',
  webgpu: 'webgpu',
};

export const Backend = z.enum(BACKENDS).describe('Backend that makes the proof');

export const KeyName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'expected a name or SHA-256 of a stored key')
  .describe('Name or SHA-256 of a stored key');

export const Sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits')
  .describe('SHA-256 of an uploaded payload');

export const JobId = z
  .string()
  .regex(/^[\w.:-]{1,128}$/, 'expected a job id')
  .describe('Id of a job');

const FILECOIN_KINDS = JOB_KINDS.filter((kind) => kind !== 'circom');
export const FilecoinKind = z.enum(FILECOIN_KINDS);

/** Characters of base64 that hold INLINE_PAYLOAD_BYTES_MAX bytes. */
const INLINE_BASE64_MAX = Math.ceil(INLINE_PAYLOAD_BYTES_MAX / 3) * 4;

export const Payload = z
  .union(
    [
      z.strictObject({ sha256: Sha256 }),
      z.strictObject({
        base64: z
          .base64('expected standard base64 with padding')
          .max(INLINE_BASE64_MAX, 'expected at most 1 MiB once decoded'),
      }),
    ],
    { error: 'expected either {sha256} or {base64}' },
  )
  .describe('The digest of an upload, or the bytes themselves up to 1 MiB');

/** Of one job: those of four full partitions of WindowPoSt. */
export const VANILLA_FILES_MAX = 10_000;

export const MinerAddress = z
  .string()
  .regex(/^[ft]0\d{1,20}$/, "expected a miner's id address such as f01000");

export const SectorNumber = z.union([z.int().nonnegative(), z.string().regex(/^\d{1,20}$/)], {
  error: 'expected a whole number, or its digits',
});

/** A JSON object that a device host checks further; here only its shape is bounded. */
export const ForeignJson = z
  .looseObject({})
  .refine(
    (value) => isShallow(value),
    `expected at most ${JSON_LEVELS_MAX} levels of at most ${JSON_WIDTH_MAX} arrays`,
  );

/** Strings in a request. */
export const STRINGS_MAX = 65_536;

/** Checked here: zod notes each of a million numbers in their place as an issue, for a second. */
export const Strings = z
  .unknown()
  .refine(
    (value) =>
      Array.isArray(value) &&
      value.length <= STRINGS_MAX &&
      value.every((item) => typeof item === 'string'),
    `expected at most ${STRINGS_MAX} strings`,
  )
  .meta({ type: 'array', maxItems: STRINGS_MAX, items: { type: 'string' } });

export const ErrorView = z
  .object({
    code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    retry: z.enum(['never', 'later', 'other-backend']),
    data: z.record(z.string(), z.union([z.string(), z.number()])),
  })
  .openapi('Error');

const Decimal = z.string();
const PointG1 = z.tuple([Decimal, Decimal, Decimal]).readonly();
const Pair = z.tuple([Decimal, Decimal]).readonly();

export const SnarkjsProof = z
  .object({
    pi_a: PointG1,
    pi_b: z.tuple([Pair, Pair, Pair]).readonly(),
    pi_c: PointG1,
    protocol: z.literal('groth16'),
    curve: z.enum(['bn128', 'bls12381']),
  })
  .describe("Groth16 proof in snarkjs's form")
  .openapi('Proof');

/** ISO 8601, UTC. */
export const Instant = z.string().meta({ format: 'date-time' });

export const JobState = z.enum(JOB_STATES);

const JobFields = {
  job_id: JobId,
  state: JobState,
  progress: z.number().min(0).max(1).describe('Share done'),
  eta_seconds: z
    .number()
    .nonnegative()
    .optional()
    .describe('Time left, from jobs like it; in state running'),
  key: KeyName.describe('As it was asked for; where none was, the digest of the one that fits'),
  submitted_at: Instant,
  started_at: Instant.optional(),
  ended_at: Instant.optional(),
  trace_id: z.string().describe('W3C trace id'),
  key_digest: z.string().optional().describe('SHA-256 of the key file'),
  backend: Backend.optional().describe('Backend that made the proof'),
  device: z.string().optional(),
  attempts: z.int().optional().describe('Times a proof was computed'),
  fallback_reason: z.string().optional().describe('Why not the first choice of backend'),
  verified: z.literal(true).optional().describe('Always true: nothing else is returned'),
  error: ErrorView.optional().describe('In state failed'),
};

export const JobSummary = z.object({ ...JobFields, kind: z.enum(JOB_KINDS) }).openapi('JobSummary');

const Timings = z
  .record(z.string(), z.number().nonnegative())
  .optional()
  .describe('Milliseconds: total_ms, and <stage>_ms for each stage that ended');

const CircomJob = z
  .object({
    ...JobFields,
    kind: z.literal('circom'),
    proof: SnarkjsProof.optional().describe('In state completed'),
    public: z.array(z.string()).optional().describe('Public inputs, decimal'),
    timings: Timings,
  })
  .openapi('CircomJob');

/** Of a PoRep that is not interactive, and more than WindowPoSt of a whole deadline has. */
const PARTITIONS_MAX = 126;
const PROOF_HEX = new RegExp(`^(?:[0-9a-fA-F]{384}){1,${PARTITIONS_MAX}}$`);

const PartitionView = z.object({
  partition: z.int().nonnegative(),
  backend: Backend,
  device: z.string(),
  attempts: z.int(),
  fallback_reason: z.string().optional(),
});

export const ProofHex = z
  .string()
  .regex(PROOF_HEX, `expected hex of 1 to ${PARTITIONS_MAX} times 192 bytes`)
  .describe('192 bytes for each partition, in their order; hex');

const FilecoinJob = z
  .object({
    ...JobFields,
    kind: FilecoinKind,
    registered_proof: z.string().optional().describe("Name of the proof's type on the chain"),
    proof: ProofHex.optional(),
    partitions: z.array(PartitionView).optional().describe('How the proof of each came about'),
    aggregated: z
      .literal(false)
      .optional()
      .describe('For a PoRep that is not interactive: the chain takes its proofs aggregated only'),
    timings: Timings,
  })
  .openapi('FilecoinJob');

export const JobView = z.discriminatedUnion('kind', [CircomJob, FilecoinJob]).openapi('Job');

/** Level by level, without recursion and without looking at more than the limits allow. */
function isShallow(value: object): boolean {
  let level: object[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === JSON_LEVELS_MAX || level.length > JSON_WIDTH_MAX) return false;
    level = level.flatMap((parent) =>
      Object.values(parent).filter(
        (child): child is object => child !== null && typeof child === 'object',
      ),
    );
  }
  return true;
}
