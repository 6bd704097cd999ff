// Asks for a service's health, one request after another, in a process that does nothing else; told to stop by the
// end of standard input, it prints how long each answer took, in milliseconds.
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 10;
const url = new URL('/health/live', process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const times = [];
let failures = 0;
let going = true;
process.stdin.on('end', () => {
  going = false;
});
process.stdin.resume();

function ask() {
  return new Promise((resolve) => {
    const before = performance.now();
    const request = get(url, { agent }, (response) => {
      if (response.statusCode !== 200) failures++;
      response.resume().once('end', () => resolve(performance.now() - before));
    });
    request.once('error', () => {
      failures++;
      resolve(performance.now() - before);
    });
  });
}

while (going) {
  times.push(await ask());
  await sleep(PAUSE_MS);
}
process.stdout.write(JSON.stringify({ times, failures }));
process.exit(0);
