import type { Command } from 'commander';
import { SETTINGS, type SettingName } from '../config.ts';
import { type Io, plain, writeFields, writeJson } from './io.ts';
import { document } from './manual.ts';
import { flagsOf, jsonOption, settingOption, usage } from './options.ts';
import type { Act } from './program.ts';
import { stopOnInterrupt } from './serve.ts';
import type { Wiring } from './wiring.ts';

type Options = Readonly<Record<string, unknown>> & { readonly json?: true };

export function defineWorker(program: Command, act: Act): void {
  const command = document(program.command('worker'), {
    summary: 'prove for a Lotus miner',
    about: `
      The service of "proofline serve", joined to a lotus-miner as a worker that proves: it takes
      SealCommit2 and ProveReplicaUpdate2, and with more roles GenerateWindowPoSt and
      GenerateWinningPoSt. Each role is a worker of its own to the miner, which gives one that
      proves spacetime nothing else to do.

      The miner has to reach this service: listen at an address of its network and name it by
      --worker-url. Beyond this machine that takes a token of this service ("proofline token
      create"); the miner brings one of its own, which this service has the miner vouch for.

      It joins again whenever the miner or the network was away. A proof that the miner has not
      taken is kept and offered every five seconds, also after a restart. Its keys are those of
      "proofline keys"; a sector needs the one of its size.

      --miner-api is what "lotus-miner auth api-info --perm admin" prints after the equals sign;
      without it, PROOFLINE_MINER_API or MINER_API_INFO. Other users see options: prefer a
      variable, or the configuration file.`,
    examples: [
      ['proofline worker', 'for the miner of MINER_API_INFO, on the same machine'],
      [
        'proofline worker --listen 10.0.0.5:9830 --worker-url http://10.0.0.5:9830',
        'for a miner on another machine',
      ],
      [
        'proofline worker --worker-roles seal,window-post,winning-post',
        'its proofs of spacetime, too',
      ],
      ['proofline worker --json & lotus-miner sealing workers', 'what the miner says of it'],
    ],
    exits: [
      ['0', 'stopped by SIGINT or SIGTERM, all jobs settled or left to the next start'],
      ['2', 'wrong usage or a wrong setting'],
      ['3', 'failed, for example because the port is taken'],
    ],
  });
  for (const name of Object.keys(SETTINGS) as SettingName[]) {
    command.addOption(settingOption(name));
  }
  command
    .addOption(jsonOption())
    .action((options: Options) => act((wiring, io) => work(options, wiring, io), { drains: true }));
}

async function work(options: Options, wiring: Wiring, io: Io): Promise<number> {
  const given = flagsOf(options);
  const config = wiring.config(given);
  const minerApi = config.minerApi || config.minerApiInfo;
  if (minerApi === undefined) {
    throw usage('miner', 'its --miner-api, PROOFLINE_MINER_API or MINER_API_INFO', 'none');
  }
  const server = await wiring.startServer({ ...given, minerApi });
  const { dataDir, workerRoles } = config;
  const workerUrl = config.workerUrl || server.url;
  if (options.json === true) {
    writeJson(io, {
      ...{ url: server.url, worker_url: workerUrl, roles: workerRoles, data_dir: dataDir },
      ...{ pid: process.pid, version: wiring.version },
    });
  } else {
    writeFields(io, [
      ['proofline', `${wiring.version} at ${server.url}`],
      ['data', plain(dataDir)],
      ['roles', workerRoles.join(', ')],
      ['the miner calls', workerUrl],
      ['stop', 'Ctrl-C'],
    ]);
  }
  return await stopOnInterrupt(server, io, options.json === true);
}
