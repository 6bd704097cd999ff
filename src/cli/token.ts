import { type Command, Option } from 'commander';
import { SCOPES, type Scope, type TokenInfo } from '../rpc/tokens.ts';
import { type Io, plain, writeFields, writeJson } from './io.ts';
import { document } from './manual.ts';
import { flagsOf, jsonOption, settingOption } from './options.ts';
import type { Act } from './program.ts';
import { EXIT } from './report.ts';
import type { Wiring } from './wiring.ts';

type Options = Readonly<Record<string, unknown>> & { readonly json?: true };

export function defineToken(program: Command, act: Act): void {
  const token = document(program.command('token'), {
    summary: 'let clients in',
    about: `
      Bearer tokens of the service. Once there is one, every request needs one, except for
      /health; without any, everyone on this machine may do everything, and the service listens
      to this machine only. A running service notices changes at once.`,
    examples: [
      ['proofline token create --name ci --scope write', 'make one; it is shown this once'],
      ['proofline token list', 'whom the service lets in'],
      ['proofline token revoke ci', 'let it in no more'],
    ],
  });
  const dataDir = settingOption('dataDir');
  document(token.command('create'), {
    summary: 'make a token',
    about: `
      Prints a new token, once: only its hash is kept. "read" looks at jobs, "write" also submits
      and cancels them, "admin" does all.`,
    examples: [['proofline token create --name ci --scope write', 'for a client that proves']],
  })
    .requiredOption('--name <text>', 'what to call it')
    .addOption(
      new Option('--scope <scope>', 'what it allows').choices([...SCOPES]).makeOptionMandatory(),
    )
    .addOption(dataDir)
    .addOption(jsonOption())
    .action((options: Options & { name: string; scope: Scope }) =>
      act((wiring, io) => create(options, wiring, io)),
    );
  document(token.command('list'), {
    summary: 'list the tokens',
    about: `
      Name, scope, age and id of each token.`,
    examples: [['proofline token list --json', 'for a program']],
  })
    .addOption(dataDir)
    .addOption(jsonOption())
    .action((options: Options) => act((wiring, io) => list(options, wiring, io)));
  document(token.command('revoke'), {
    summary: 'revoke a token',
    about: `
      Takes the id or the name of a token; every token of that name is revoked.`,
    examples: [['proofline token revoke ci', 'by name']],
  })
    .argument('<token>', 'its id or name')
    .addOption(dataDir)
    .addOption(jsonOption())
    .action((which: string, options: Options) =>
      act((wiring, io) => revoke(which, options, wiring, io)),
    );
}

async function create(
  options: Options & { readonly name: string; readonly scope: Scope },
  wiring: Wiring,
  io: Io,
): Promise<number> {
  const { name, scope } = options;
  const { token, info } = await wiring.tokens(flagsOf(options)).create(plain(name), scope);
  if (options.json === true) writeJson(io, { ...toJson(info), token });
  else {
    writeFields(io, [
      ['token', token],
      ['name', info.name],
      ['scope', info.scope],
      ['use', `curl -H 'authorization: Bearer ${token}' ...`],
    ]);
  }
  return EXIT.done;
}

async function list(options: Options, wiring: Wiring, io: Io): Promise<number> {
  const tokens = wiring.tokens(flagsOf(options)).list();
  if (options.json === true) writeJson(io, { tokens: tokens.map(toJson) });
  else if (tokens.length === 0) io.stdout.write('none: everyone on this machine is let in\n');
  else {
    writeFields(
      io,
      tokens.map(({ name, scope, createdAt, id }) => [name, `${scope}  ${createdAt}  ${id}`]),
    );
  }
  return EXIT.done;
}

async function revoke(which: string, options: Options, wiring: Wiring, io: Io): Promise<number> {
  const revoked = await wiring.tokens(flagsOf(options)).revoke(which);
  if (options.json === true) writeJson(io, { revoked: revoked.map(toJson) });
  else
    writeFields(
      io,
      revoked.map(({ name, id }) => [name, `${id} revoked`]),
    );
  return EXIT.done;
}

function toJson({ createdAt, ...info }: TokenInfo) {
  return { ...info, created_at: createdAt };
}
