// The command in a hint must start this program, wherever it runs.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { invocation, shellWord } from './invocation.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'bigfleet-call-')));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

/** A package with the script, below the root. */
function packageAt(...parts: readonly string[]): string {
  const dir = join(root, ...parts);
  mkdirSync(join(dir, 'bin'), { recursive: true });
  writeFileSync(join(dir, 'bin', 'bigfleet'), '');
  return dir;
}

/** A folder of the path whose `bigfleet` is the script of the package. */
function linked(packageDir: string, ...parts: readonly string[]): string {
  const folder = join(root, ...parts);
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(packageDir, 'bin', 'bigfleet'), join(folder, 'bigfleet'));
  return folder;
}

describe('the command that starts this program', () => {
  it('given a checkout as the current directory, then it is npm run', () => {
    const packageDir = packageAt('checkout');
    const place = { packageDir, isCheckout: true, workingDir: packageDir, path: '/usr/bin' };
    expect(invocation(place)).toBe('npm run --silent bigfleet --');
  });

  it('given another directory, then it is the path of the script, relative only within the checkout', () => {
    const packageDir = packageAt('a checkout');
    const place = { packageDir, isCheckout: true, path: '' };
    expect(invocation({ ...place, workingDir: join(packageDir, 'docs') })).toBe('../bin/bigfleet');
    expect(invocation({ ...place, workingDir: root })).toBe(`'${packageDir}/bin/bigfleet'`);
  });

  it('given the script on the path, then it is its name; given another program of that name, then it is not', () => {
    const packageDir = packageAt('lib', 'node_modules', 'bigfleet');
    const other = packageAt('other');
    const mine = linked(packageDir, 'bin');
    const place = { packageDir, isCheckout: false, workingDir: '/' };
    expect(invocation({ ...place, path: `/nowhere:${mine}` })).toBe('bigfleet');
    const hidden = `${linked(other, 'first')}:${mine}`;
    expect(invocation({ ...place, path: hidden })).toBe(join(packageDir, 'bin', 'bigfleet'));
  });

  it('given a project that depends on the package, then it is npx', () => {
    const packageDir = packageAt('project', 'node_modules', 'bigfleet');
    const path = linked(packageDir, 'project', 'node_modules', '.bin');
    const workingDir = dirname(dirname(packageDir));
    expect(invocation({ packageDir, isCheckout: false, workingDir, path })).toBe('npx bigfleet');
  });
});

describe('quoting for a shell', () => {
  it.each([
    ['.bigfleet/up/shard', '.bigfleet/up/shard'],
    ['my fleet', `'my fleet'`],
    [`it's`, `'it'\\''s'`],
    ['', `''`],
  ])('given %j, then the result is %s', (text, word) => {
    expect(shellWord(text)).toBe(word);
  });
});
