import { z } from '@hono/zod-openapi';
import { defineMethod } from '../method.ts';
import { KeyName } from '../schemas.ts';

export const KeyList = z
  .object({
    keys: z.array(
      z.object({
        name: KeyName,
        digest: z.string().describe('SHA-256 of the key file'),
        format: z.enum(['zkey', 'bellman']),
        curve: z.enum(['bn254', 'bls12-381']),
        bytes: z.int(),
        public_count: z.int().describe('Public inputs, without the constant 1'),
        log_n: z.int().describe('The evaluation domain has 2^log_n rows'),
        circuit: z.string().optional().describe('What it proves, where that is known'),
        group_checked: z.boolean().describe('Its points lie on their curve and in their group'),
        insecure: z.string().optional().describe('Why it must not be used in production'),
        damage: z.string().optional().describe('What is wrong with its file; it is refused'),
      }),
    ),
  })
  .openapi('KeyList');

export const keys = defineMethod({
  summary: 'The stored keys',
  scope: 'read',
  params: z.strictObject({}),
  result: KeyList,
  errors: [],
  async run(_, call) {
    const infos = await call.services.keys.list();
    return {
      keys: infos.map((key) => ({
        name: key.name,
        digest: key.digest,
        format: key.format,
        curve: key.curve,
        bytes: key.bytes,
        public_count: key.publicCount,
        log_n: key.logN,
        ...(key.circuit !== undefined && { circuit: key.circuit }),
        group_checked: key.points !== 'not checked',
        ...(key.insecure !== undefined && { insecure: key.insecure }),
        ...(key.damage !== undefined && { damage: key.damage }),
      })),
    };
  },
});
