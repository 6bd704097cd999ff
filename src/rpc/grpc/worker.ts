import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../core/assert.ts';
import { type WireOptions, WireServer } from './wire-server.ts';

// The thread that speaks gRPC.
assert(parentPort !== null, 'started as a worker thread');
void new WireServer(workerData as WireOptions, parentPort).listen();
