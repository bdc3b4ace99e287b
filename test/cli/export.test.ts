// `bigfleet export`: where the fleet is written to, and what is left where that fails.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportCommand } from '../../src/cli/remote/export.ts';
import { type ApiServer, serveApi } from '../../src/shard/index.ts';
import { FakeShard } from '../../testing/support/fake-shard.ts';

let folder: string;
let server: ApiServer;
let exports: number;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bigfleet-export-'));
  exports = 0;
  server = await serveApi(new FakeShard(), '127.0.0.1:0', {
    tls: null,
    whatIf: {
      whatIf: () => Promise.reject(new Error('not asked')),
      export: async (write) => {
        exports++;
        await write('{"now": ');
        await write('0}');
      },
    },
  });
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const exportTo = (file: string, shard = server.url) =>
  exportCommand().parseAsync(['-o', file, '--shard', shard], { from: 'user' });

describe('bigfleet export -o FILE', () => {
  it('given a file that exists, then it is replaced as a whole', async () => {
    const file = join(folder, 'fleet.json');
    writeFileSync(file, 'a longer text than the export has');
    await exportTo(file);
    expect(readFileSync(file, 'utf8')).toBe('{"now": 0}');
    expect(readdirSync(folder)).toEqual(['fleet.json']);
  });

  it('given a folder that does not exist, then the file is named and the shard is not asked', async () => {
    await expect(exportTo(join(folder, 'no', 'fleet.json'))).rejects.toMatchObject({
      code: 'BF_OUTPUT_UNWRITABLE',
      message: expect.stringMatching(/no.fleet\.json: ENOENT/),
    });
    expect(exports).toBe(0);
  });

  it('given a folder in the place of the file, then it stays, and nothing is left beside it', async () => {
    await expect(exportTo(folder)).rejects.toMatchObject({ code: 'BF_OUTPUT_UNWRITABLE' });
    expect(readdirSync(folder)).toEqual([]);
    expect(readdirSync(join(folder, '..'))).not.toContain(`${folder.split('/').at(-1)}.part`);
  });

  it('given no shard, then nothing is left', async () => {
    await expect(exportTo(join(folder, 'fleet.json'), '127.0.0.1:1')).rejects.toMatchObject({
      code: 'BF_SHARD_UNREACHABLE',
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});
