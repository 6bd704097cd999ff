import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Which rooms a room may import. The key is the longest matching path prefix. */
const ROOMS: Readonly<Record<string, readonly string[] | 'all'>> = {
  'src/main.ts': 'all',
  'src/compose.ts': 'all',
  'src/embed.ts': 'all',
  'src/cli/': 'all',
  'src/config.ts': ['src/core/', 'src/cuzk-config.ts'],
  'src/cuzk-config.ts': ['src/core/'],
  'src/core/': [],
  'src/telemetry/': ['src/core/'],
  'src/math/': ['src/core/'],
  'src/r1cs/': ['src/math/', 'src/core/'],
  'src/circuits/': ['src/r1cs/', 'src/math/', 'src/core/'],
  'src/groth16/': ['src/r1cs/', 'src/math/', 'src/core/'],
  'src/formats/': ['src/circuits/', 'src/groth16/', 'src/r1cs/', 'src/math/', 'src/core/'],
  'src/backend/': ['src/groth16/', 'src/r1cs/', 'src/core/', 'src/telemetry/'],
  'src/host/': [
    'backends/common/',
    'backends/cpu/',
    'backends/cuda/',
    'backends/cpu-reference/',
    'src/backend/',
    'src/circuits/',
    'src/formats/',
    'src/groth16/',
    'src/r1cs/',
    'src/math/',
    'src/core/',
    'src/telemetry/',
  ],
  'src/keys/': [
    'src/host/',
    'src/formats/',
    'src/groth16/',
    'src/math/',
    'src/core/',
    'src/telemetry/',
  ],
  'src/pipeline/': ['src/host/', 'src/keys/', 'src/backend/', 'src/core/', 'src/telemetry/'],
  'src/jobs/': ['src/pipeline/', 'src/core/', 'src/telemetry/'],
  'src/trace/': ['src/core/', 'src/telemetry/'],
  'src/client/': ['src/core/'],
  'src/rpc/': ['src/jobs/', 'src/keys/', 'src/trace/', 'src/core/', 'src/telemetry/'],
  'backends/common/': ['src/backend/', 'src/groth16/', 'src/math/', 'src/core/'],
  'backends/cpu/': ['backends/common/', 'src/backend/', 'src/groth16/', 'src/math/', 'src/core/'],
  'backends/cuda/': ['backends/common/', 'src/backend/', 'src/groth16/', 'src/core/'],
  'backends/cpu-reference/': [
    'src/backend/',
    'src/groth16/',
    'src/r1cs/',
    'src/math/',
    'src/core/',
  ],
};
/** Rooms that may read the environment. */
const READS_ENVIRONMENT = ['src/config.ts'];

const files = ['src', 'backends'].flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => join(root, name)),
);

function roomOf(file: string): string {
  const room = Object.keys(ROOMS).find((prefix) => file.startsWith(prefix));
  if (room === undefined) throw new Error(`${file}: expected a room of the table, got none`);
  return room;
}

function importsOf(file: string): string[] {
  const source = readFileSync(file, 'utf8');
  const specifiers = source.matchAll(/(?:\bfrom|\bimport\(|^import)\s*['"](\.[^'"]+)['"]/gm);
  return [...specifiers]
    .map((match) => normalize(join(dirname(file), match[1] as string)))
    .filter((target) => target !== 'package.json');
}

describe('architecture', () => {
  it.each(files)('%s imports only the rooms it may', (file) => {
    const allowed = ROOMS[roomOf(file)];
    const outside = importsOf(file).filter((target) => {
      const room = roomOf(target);
      return room !== roomOf(file) && allowed !== 'all' && !allowed?.includes(room);
    });
    expect(outside).toEqual([]);
  });

  it.each(files)('%s reads the environment only where configuration lives', (file) => {
    if (READS_ENVIRONMENT.includes(file)) return;
    expect(readFileSync(file, 'utf8')).not.toMatch(/process\.env\b/);
  });

  it('no file is dead', () => {
    const entries = [
      'main.ts',
      'host/child.ts',
      'rpc/grpc/worker.ts',
      'client/client.ts',
      'embed.ts',
    ];
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      importsOf(file).forEach(visit);
    };
    for (const entry of entries) visit(join('src', entry));
    expect(files.filter((file) => !reached.has(file))).toEqual([]);
  });

  it.each(files.filter((file) => file !== 'src/client/types.ts'))(
    '%s keeps to 100 columns',
    (file) => {
      // A message or a pattern stays in one piece, so that it can be searched for.
      const exempt = /https?:|^\s*(text: )?['`/]/;
      const long = readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => [...line].length > 100 && (line.includes('/**') || !exempt.test(line)));
      expect(long).toEqual([]);
    },
  );
});
