import { digestKey, inspectKey } from '../../src/host/inspect.ts';
import type { KeyInspector, Progress } from '../../src/keys/import.ts';

const callOf = ({ signal, onProgress = () => {} }: Progress) => ({
  signal,
  event() {},
  progress: onProgress,
});

/** Reads keys as a device host does, in this process; checks no points. */
export const inspector: KeyInspector = {
  inspect: (path, options) => inspectKey(path, callOf(options)),
  digestKey: (keyPath, ends, options) => digestKey({ keyPath, ends }, callOf(options)),
  async checkKey() {},
};
