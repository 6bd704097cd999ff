import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { GIB } from '../core/units.ts';
import type { ProbedBackend } from '../host/protocol.ts';
import { type Io, plain, writeJson } from './io.ts';
import type { MachineFacts } from './machine.ts';
import { document } from './manual.ts';
import { jsonOption } from './options.ts';
import { type Painter, painterOf } from './paint.ts';
import type { Act } from './program.ts';
import { EXIT } from './report.ts';
import type { Wiring } from './wiring.ts';

/** As package.json's `engines` says. */
const NODE_MIN = [20, 19] as const;
/** Below this a proof of ordinary size may run out of memory. */
const MEMORY_FREE_MIN = 1 * GIB;

interface Check {
  readonly name: string;
  /** `fail`: proofline cannot work so. `warn`: it works, but not as well as it could. */
  readonly status: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do about it. */
  readonly advice?: string;
}

export function defineDoctor(program: Command, act: Act): void {
  document(program.command('doctor'), {
    summary: 'say what works on this machine',
    about: `
      Checks Node.js, each backend, the tools that the native backend is built with, memory, the
      data folder and tracing, and says what to install or change. Makes the data folder if
      there is none.`,
    examples: [
      ['proofline doctor', 'a checklist'],
      ['proofline doctor --json | jq \'.checks[] | select(.status != "ok")\'', 'what to look at'],
    ],
    exits: [
      ['0', 'proofline works here; it may work better with what is advised'],
      ['2', 'wrong usage or a wrong setting'],
      ['3', 'proofline cannot work here as things are'],
    ],
  })
    .addOption(jsonOption())
    .action((options: { json?: true }) =>
      act((wiring, io) => doctor(options.json === true, wiring, io)),
    );
}

async function doctor(json: boolean, wiring: Wiring, io: Io): Promise<number> {
  const config = wiring.config();
  const facts = await wiring.inspectMachine(config.dataDir);
  await using engine = await wiring.openEngine({});
  const backends = await engine.probe();
  const checks = [
    nodeCheck(facts),
    ...backendChecks(backends),
    ...toolChecks(facts, backends),
    memoryCheck(facts),
    dataCheck(facts, config),
    tracingCheck(config),
  ];
  const ok = checks.every(({ status }) => status !== 'fail');
  if (json) writeJson(io, { ok, version: wiring.version, checks });
  else io.stdout.write(checklist(checks, ok, painterOf(io, wiring)));
  return ok ? EXIT.done : EXIT.failed;
}

function nodeCheck({ nodeVersion, cpu, cores }: MachineFacts): Check {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const recent = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  const found = `${nodeVersion}, ${cores} cores of ${cpu}`;
  if (recent) return { name: 'node', status: 'ok', found };
  const advice = `install Node.js ${NODE_MIN.join('.')} or newer`;
  return { name: 'node', status: 'fail', found, advice };
}

function backendChecks(backends: readonly ProbedBackend[]): Check[] {
  const works = backends.some(({ probe }) => probe.available);
  return backends.map(({ name, probe }): Check => {
    const check = `backend ${name}`;
    if (!probe.available) {
      return { name: check, status: works ? 'warn' : 'fail', found: probe.reason };
    }
    const devices = probe.devices.map((device) => `${device.id}: ${device.name}`).join(', ');
    return { name: check, status: 'ok', found: `${probe.version}, ${devices}` };
  });
}

function toolChecks(facts: MachineFacts, backends: readonly ProbedBackend[]): Check[] {
  const built = backends.some(({ name, probe }) => name === 'cpu' && probe.available);
  return (['compiler', 'cmake'] as const).map((name): Check => {
    const found = facts[name];
    if (found !== undefined) return { name, status: 'ok', found };
    const missing = { name, found: 'not installed' };
    if (built) return { ...missing, status: 'ok' };
    const advice =
      'Debian: `apt-get install g++ cmake`, then `npm rebuild`, for the native backend';
    return { ...missing, status: 'warn', advice };
  });
}

function memoryCheck({ memoryBytes, memoryFreeBytes }: MachineFacts): Check {
  const gib = (bytes: number) => `${(bytes / GIB).toFixed(1)} GiB`;
  const found = `${gib(memoryFreeBytes)} free of ${gib(memoryBytes)}`;
  if (memoryFreeBytes >= MEMORY_FREE_MIN) return { name: 'memory', status: 'ok', found };
  return { name: 'memory', status: 'warn', found, advice: 'end other programs or raise the limit' };
}

function dataCheck({ dataDirProblem }: MachineFacts, { dataDir }: Config): Check {
  if (dataDirProblem === undefined) return { name: 'data folder', status: 'ok', found: dataDir };
  return {
    name: 'data folder',
    status: 'fail',
    found: `${dataDir}: ${dataDirProblem}`,
    advice: 'make it writable, or set PROOFLINE_DATA_DIR to a folder that is',
  };
}

function tracingCheck({ telemetryExport }: Config): Check {
  const found = telemetryExport
    ? 'each job is exported, as OTEL_* say'
    : 'off; OTEL_EXPORTER_OTLP_ENDPOINT turns it on';
  return { name: 'tracing', status: 'ok', found };
}

const MARKS = {
  ok: { colour: 'green', mark: '✓' },
  warn: { colour: 'yellow', mark: '!' },
  fail: { colour: 'red', mark: '✗' },
} as const;

function checklist(checks: readonly Check[], ok: boolean, paint: Painter): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, status, found, advice }) => {
    const { colour, mark } = MARKS[status];
    const line = `${paint(colour, mark)} ${name.padEnd(width)}  ${plain(found)}`;
    return advice === undefined ? [line] : [line, `${' '.repeat(width + 4)}→ ${advice}`];
  });
  const verdict = ok ? 'proofline works here' : 'proofline cannot work here yet: see ✗';
  return `${lines.join('\n')}\n\n${verdict}\n`;
}
