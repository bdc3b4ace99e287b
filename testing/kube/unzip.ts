// Unpacks a ZIP archive with what Node has. For the Go toolchain, which the module proxy serves as one, on machines
// without unzip. Used by scripts/k8s-build.ts.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { inflateRawSync } from 'node:zlib';

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const STORED = 0;
const DEFLATED = 8;
const MAX_COMMENT = 65_535;

/** Writes all files below `folder`; names in `isProgram` become executable. Without ZIP64, which the archive is not. */
export function unzip(archive: Buffer, folder: string, isProgram: (name: string) => boolean): number {
  const end = endOf(archive);
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  for (let i = 0; i < count; i++) {
    if (archive.readUInt32LE(at) !== ENTRY) throw new Error(`the archive is damaged at byte ${at}`);
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    const method = archive.readUInt16LE(at + 10);
    const size = archive.readUInt32LE(at + 20);
    const local = archive.readUInt32LE(at + 42);
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const packed = archive.subarray(start, start + size);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    if (name.endsWith('/')) continue;
    if (method !== STORED && method !== DEFLATED) throw new Error(`${name}: unknown compression ${method}`);
    const path = join(folder, name);
    if (!normalize(path).startsWith(normalize(folder) + sep))
      throw new Error(`${name} is outside of the folder`);
    mkdirSync(dirname(path), { recursive: true });
    const content = method === STORED ? packed : inflateRawSync(packed);
    writeFileSync(path, content, { mode: isProgram(name) ? 0o755 : 0o644 });
  }
  return count;
}

function endOf(archive: Buffer): number {
  const first = Math.max(0, archive.length - 22 - MAX_COMMENT);
  for (let at = archive.length - 22; at >= first; at--) if (archive.readUInt32LE(at) === END) return at;
  throw new Error('this is not a ZIP archive');
}
