import { open } from 'node:fs/promises';

/** A name in a folder has reached the disk only once the folder has. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
