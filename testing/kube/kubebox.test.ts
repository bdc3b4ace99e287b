import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cacheFolder, findKubebox, kubernetesVersion, notRun, PROGRAMS, VERSIONS } from './kubebox.ts';
import { unzip } from './unzip.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'bigfleet-kubebox-test-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

describe('the search for a control plane', () => {
  it('given none, then it is reported as missing, with the number of tests and the command', () => {
    const { folder: found, why } = findKubebox({ HOME: folder() });
    expect(found).toBeNull();
    expect(notRun(41, why ?? '')).toMatch(
      /^NOT RUN: 41 tests .+ is not in .+ "npm run k8s:build" .+ "npm run verify:k8s"/,
    );
  });

  it('given one in the cache folder, then it is found by version', () => {
    const env = { XDG_CACHE_HOME: folder() };
    const cache = cacheFolder(env);
    mkdirSync(cache, { recursive: true });
    for (const program of PROGRAMS) writeFileSync(join(cache, program), '', { mode: 0o755 });
    expect(findKubebox(env)).toEqual({ folder: cache, why: null });
    expect(cache).toContain(VERSIONS.kubernetes);
  });

  it('given a variable that names an incomplete folder, then it says what is missing', () => {
    const path = folder();
    writeFileSync(join(path, 'etcd'), '', { mode: 0o755 });
    expect(findKubebox({ KUBEBUILDER_ASSETS: path }).why).toContain('has no kube-apiserver, kube-scheduler');
  });

  it('given programs of another version, then it is the version that they report', () => {
    const path = folder();
    const script = "#!/bin/sh\necho 'Kubernetes v1.31.14'\n";
    writeFileSync(join(path, 'kube-apiserver'), script, { mode: 0o755 });
    expect(kubernetesVersion(path)).toBe('1.31.14');
    expect(kubernetesVersion(folder())).toBe('of an unknown version');
  });

  it('given go.mod, then it is for the pinned versions', () => {
    const mod = readFileSync('testing/kube/kubebox/go.mod', 'utf8');
    expect(mod).toContain(`k8s.io/kubernetes v${VERSIONS.kubernetes}`);
    expect(mod).toContain(`go.etcd.io/etcd/server/v3 v${VERSIONS.etcd}`);
  });
});

describe('a ZIP archive', () => {
  /** Local header, content and entry of the directory, as far as readers need them. */
  function zip(files: Readonly<Record<string, string>>): Buffer {
    const parts: Buffer[] = [];
    const entries: Buffer[] = [];
    let at = 0;
    for (const [name, text] of Object.entries(files)) {
      const packed = deflateRawSync(text);
      const local = Buffer.alloc(30);
      local.writeUInt16LE(name.length, 26);
      const entry = Buffer.alloc(46);
      entry.writeUInt32LE(0x02014b50, 0);
      entry.writeUInt16LE(8, 10);
      entry.writeUInt32LE(packed.length, 20);
      entry.writeUInt16LE(name.length, 28);
      entry.writeUInt32LE(at, 42);
      entries.push(entry, Buffer.from(name));
      parts.push(local, Buffer.from(name), packed);
      at += 30 + name.length + packed.length;
    }
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(Object.keys(files).length, 10);
    end.writeUInt32LE(at, 16);
    return Buffer.concat([...parts, ...entries, end]);
  }

  it('given files, then they are written, programs executable', () => {
    const path = folder();
    unzip(zip({ 'go/bin/go': 'program', 'go/README': 'x'.repeat(1000) }), path, (name) =>
      name.includes('/bin/'),
    );
    expect(readFileSync(join(path, 'go/README'), 'utf8')).toBe('x'.repeat(1000));
    expect(statSync(join(path, 'go/bin/go')).mode & 0o111).not.toBe(0);
  });

  it('given a name outside of the folder, or no archive, then it is refused', () => {
    const path = folder();
    expect(() => unzip(zip({ '../x': 'y' }), path, () => false)).toThrow(/outside/);
    expect(() => unzip(Buffer.alloc(100), path, () => false)).toThrow(/not a ZIP/);
  });
});
