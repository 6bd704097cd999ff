import type { Verification } from '../keys/store.ts';
import type { KeyInfo } from '../keys/stored-key.ts';
import { plain } from './io.ts';

/** A key as programs see it. */
export function publicView(key: KeyInfo): object {
  return {
    name: key.name,
    names: key.names,
    digest: key.digest,
    format: key.format,
    curve: key.curve,
    bytes: key.bytes,
    public_count: key.publicCount,
    log_n: key.logN,
    points: key.points,
    group_checked: key.points !== 'not checked',
    ...(key.circuit !== undefined && { circuit: key.circuit }),
    ...(key.insecure !== undefined && { insecure: key.insecure }),
    ...(key.damage !== undefined && { damage: key.damage }),
    origin: key.source.path,
    imported_at: key.importedAt,
    linked: key.linked,
    path: key.path,
  };
}

/** A key in one line. */
export function summaryOf(key: KeyInfo): string {
  return [
    key.circuit ?? key.format,
    key.curve,
    sizeText(key.bytes),
    key.digest.slice(0, 16),
    ...(key.insecure === undefined ? [] : ['INSECURE']),
    ...(key.points === 'not checked' ? ['points not checked'] : []),
    ...(key.damage === undefined ? [] : [`DAMAGED: ${key.damage}`]),
  ].join('  ');
}

/** A key for people. */
export function fieldsOf(key: KeyInfo): [string, string][] {
  const optional = (name: string, value: string | undefined): [string, string][] =>
    value === undefined ? [] : [[name, plain(value)]];
  return [
    ['key', key.names.join(', ') || key.name],
    ['digest', `sha256 ${key.digest}`],
    ['format', `${key.format}, ${key.curve}, domain 2^${key.logN}, ${key.publicCount} public`],
    ...optional('circuit', key.circuit),
    ['points', `${key.pointCount}, ${key.points}`],
    ['size', `${sizeText(key.bytes)} (${key.bytes} bytes)`],
    ['file', `${plain(key.path)}${key.linked ? ' (linked)' : ''}`],
    ...(key.linked ? [] : optional('from', key.source.path)),
    ['imported', key.importedAt],
    ...optional('INSECURE', key.insecure),
    ...optional('DAMAGED', key.damage),
  ];
}

function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  const unit = Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${Number((bytes / 1024 ** unit).toPrecision(3))} ${units[unit]}`;
}

/** What `verify` found, for programs. */
export function verdictOf({ damage, ...key }: Verification): object {
  return { ...key, whole: damage === undefined, ...(damage !== undefined && { damage }) };
}
