import { open, readFile } from 'node:fs/promises';
import { golden } from './shared.ts';

const G1_BYTES = 96;
const G2_BYTES = 192;
/** Where the count of ic stands; ic comes after it. */
const IC_COUNT_AT = 864;

/**
 * Bellman parameters of a hundred megabytes: a true head, true counts, and zeros for the points of
 * the queries, which are too many to be checked unasked.
 */
export async function largeKey(path: string): Promise<void> {
  const tiny = await readFile(golden('tiny.params'));
  const inputs = tiny.readUInt32BE(IC_COUNT_AT);
  const head = tiny.subarray(0, IC_COUNT_AT + 4 + inputs * G1_BYTES);
  const queries = [
    { count: 2 ** 20 - 1, bytes: G1_BYTES },
    { count: 1000, bytes: G1_BYTES },
    { count: inputs, bytes: G1_BYTES },
    { count: 1, bytes: G1_BYTES },
    { count: 1, bytes: G2_BYTES },
  ];
  const file = await open(path, 'w');
  await file.write(head, 0, head.length, 0);
  let at = head.length;
  for (const { count, bytes } of queries) {
    const word = Buffer.alloc(4);
    word.writeUInt32BE(count);
    await file.write(word, 0, 4, at);
    at += 4 + count * bytes;
  }
  await file.truncate(at);
  await file.close();
}
