import { createBackends } from './backends.ts';
import type { Beat } from './protocol.ts';
import { HostServer } from './server.ts';

// The device host: entry point of the child process. It outlives neither its parent nor its
// channel.
const BEAT_MS = 1000;
const send = process.send?.bind(process);
if (send === undefined) {
  console.error('device host: expected to be started by proofline, got no channel');
  process.exit(2);
}
const server = new HostServer(createBackends(), (message) => void send(message));
process.on('message', (message) => server.receive(message as never));
process.on('disconnect', () => process.exit(0));
const beat: Beat = { beat: true };
void send(beat);
setInterval(() => void send(beat), BEAT_MS);
// An interrupt from the terminal reaches the whole process group; the parent decides what it means.
process.on('SIGINT', () => {});
