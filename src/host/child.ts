import { type ErrorRecord, fromErrorRecord } from '../core/errors.ts';
import { createBackends } from './backends.ts';
import type { Beat } from './protocol.ts';
import { HostServer } from './server.ts';

// The device host: entry point of the child process. It outlives neither its parent nor its
// channel.
const BEAT_MS = 1000;
const EXIT_DEVICE_LOST = 70;
const send = process.send?.bind(process);
if (send === undefined) {
  console.error('device host: expected to be started by proofline, got no channel');
  process.exit(2);
}
const server = new HostServer(createBackends(), (message) => {
  if ('error' in message && message.error.code === 'ERR_HOST_CRASHED') endFor(message.error);
  void send(message);
});
process.on('message', (message) => server.receive(message as never));
process.on('disconnect', () => process.exit(0));
const beat: Beat = { beat: true };
void send(beat);
setInterval(() => void send(beat), BEAT_MS);
// After a sticky error of its device nothing in this process works any more; the parent starts another.
function endFor(error: ErrorRecord): never {
  console.error(fromErrorRecord(error).message);
  process.exit(EXIT_DEVICE_LOST);
}
// An interrupt from the terminal reaches the whole process group; the parent decides what it means.
process.on('SIGINT', () => {});
