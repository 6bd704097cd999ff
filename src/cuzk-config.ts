import { parse, TomlError } from 'smol-toml';
import { ProverError } from './core/errors.ts';

/** What a key of cuzk's means here: a setting of ours, or why there is none. */
type Answer =
  | { readonly setting: string; readonly text: (value: Value) => string | undefined }
  | { readonly ignored: string };
type Value = string | number | boolean | readonly unknown[];

export interface CuzkConfig {
  /** By the names of our own file. */
  readonly settings: Readonly<Record<string, string>>;
  /** A line for each key of the file: honoured, replaced by what, or ignored and why. */
  readonly notes: readonly string[];
}

/** A list of one text would read like that text. */
const asText = (value: Value) => (typeof value === 'object' ? 'something else' : String(value));
/** 0 stands for all cores, as no setting does. */
const threads = (value: Value) => (value === 0 ? undefined : asText(value));
const logLevel = (value: Value) => (value === 'trace' ? 'debug' : asText(value));

const NO_BUDGET = 'keys are mapped, and one partition is in memory at a time';
const ONE_AT_A_TIME = 'one partition at a time is proved on a backend';
const DEPRECATED = 'cuzk does not read it any more either';
const NO_OPERATION = 'it has no effect in cuzk either';

/** Keys of cuzk's daemon, as its configuration file has them (curio, extern/cuzk). */
const ANSWERS: Readonly<Record<string, Answer>> = {
  'daemon.listen': { setting: 'grpc_listen', text: asText },
  'daemon.status_listen': { setting: 'status_listen', text: asText },
  'memory.total_budget': { ignored: NO_BUDGET },
  'memory.safety_margin': { ignored: NO_BUDGET },
  'memory.eviction_min_idle': { ignored: 'the four keys used last stay loaded' },
  'memory.pinned_budget': { ignored: DEPRECATED },
  'memory.working_memory_budget': { ignored: DEPRECATED },
  'gpus.devices': { ignored: 'the first device of the fastest backend proves' },
  'gpus.gpu_threads': { setting: 'threads', text: threads },
  'gpus.gpu_workers_per_device': { ignored: ONE_AT_A_TIME },
  'scheduler.max_batch_size': { ignored: 'each partition is proved by itself' },
  'scheduler.max_batch_wait_ms': { ignored: 'no job waits for others to be proved with' },
  'scheduler.sort_by_type': { ignored: NO_OPERATION },
  'synthesis.threads': { setting: 'threads', text: threads },
  'synthesis.partition_workers': { ignored: DEPRECATED },
  'pipeline.enabled': { ignored: 'partitions are always proved one by one' },
  'pipeline.synthesis_lookahead': { ignored: NO_OPERATION },
  'pipeline.synthesis_concurrency': { ignored: ONE_AT_A_TIME },
  'pipeline.max_parallel_synthesis': { ignored: ONE_AT_A_TIME },
  'pipeline.max_gpu_queue_depth': { ignored: ONE_AT_A_TIME },
  'pipeline.slot_size': { ignored: NO_OPERATION },
  'srs.param_cache': { ignored: '`proofline keys import` of that folder, once, replaces it' },
  'srs.preload': { ignored: DEPRECATED },
  'logging.level': { setting: 'log_level', text: logLevel },
  'logging.format': { ignored: NO_OPERATION },
};

/**
 * Reads a configuration file of cuzk's, so that an operator's works as it is.
 * @param subject what messages call the file
 * @throws ERR_PARAMS with the line for text that is no TOML
 */
export function readCuzkConfig(subject: string, source: string): CuzkConfig {
  const settings: Record<string, string> = {};
  const notes: string[] = [];
  for (const [key, value] of keysOf(tablesOf(subject, source))) {
    const answer = Object.hasOwn(ANSWERS, key) ? ANSWERS[key] : undefined;
    if (answer === undefined) notes.push(`${key}: ignored: cuzk has no such key`);
    else if ('ignored' in answer) notes.push(`${key}: ignored: ${answer.ignored}`);
    else {
      const text = answer.text(value);
      const ours = answer.setting;
      if (text === undefined) notes.push(`${key}: honoured: the default of ${ours} says the same`);
      else if (Object.hasOwn(settings, ours)) notes.push(`${key}: ignored: ${ours} is set already`);
      else {
        settings[ours] = text;
        notes.push(`${key}: honoured: ${ours} is ${text}`);
      }
    }
  }
  return { settings, notes };
}

function tablesOf(subject: string, source: string): object {
  try {
    return parse(source);
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    const place = `${subject}: line ${thrown.line}`;
    const actual = 'text that is none';
    throw new ProverError('ERR_PARAMS', { subject: place, expected: 'TOML', actual }, thrown);
  }
}

/** `table.key` of each value. No table of cuzk's has another in it: one that does is a value. */
function* keysOf(tables: object): Generator<[string, Value]> {
  for (const [name, value] of Object.entries(tables)) {
    const isTable = typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);
    if (!isTable) yield [name, value];
    else for (const [key, inner] of Object.entries(value)) yield [`${name}.${key}`, inner as Value];
  }
}
