// Writes the table of settings into the README, between its two markers. With --check it writes nothing and exits 1
// where the README differs.
import { readFile, writeFile } from 'node:fs/promises';
import { importSource } from './import-source.mjs';

const [BEGIN, END] = ['<!-- SETTINGS -->\n', '<!-- /SETTINGS -->'];
const { SETTINGS } = await importSource('src/config.ts');
const rows = Object.entries(SETTINGS).map(([name, { env, fallback, help }]) => {
  const shown = name === 'threads' ? 'all cores' : fallback === '' ? '' : `\`${fallback}\``;
  return `| \`${env}\` | ${shown} | ${help} |\n`;
});
const table = `| variable | default | what it is |\n|---|---|---|\n${rows.join('')}`;
const path = new URL('../README.md', import.meta.url);
const readme = await readFile(path, 'utf8');
const [before, rest] = readme.split(BEGIN);
const text = `${before}${BEGIN}${table}${END}${rest.split(END)[1]}`;
if (!process.argv.includes('--check')) await writeFile(path, text);
else if (text !== readme) {
  console.error(
    'README.md: differs from src/config.ts; run `npm run generate` and commit the result',
  );
  process.exitCode = 1;
}
