// Locates the programs of a real control plane on this machine: the binary that `npm run k8s:build` keeps in the user's
// cache folder, or those that KUBEBUILDER_ASSETS names. Without them, tests report what they did not run: they never pass
// as if they had run it.

import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Pinned together: go.mod and go.sum in kubebox/ are for these versions. */
export const VERSIONS = { kubernetes: '1.36.3', etcd: '3.6.8', go: '1.26.8' } as const;

export const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-scheduler', 'kube-controller-manager'] as const;
export type Program = (typeof PROGRAMS)[number];

/** Folder with the programs, for Kubernetes' own test tools and for ours. */
const VARIABLE = 'KUBEBUILDER_ASSETS';

type Environment = Readonly<Record<string, string | undefined>>;

export type FoundKubebox =
  | { readonly folder: string; readonly why: null }
  | { readonly folder: null; readonly why: string };

/** Folder of the built programs, by version and platform. */
export function cacheFolder(env: Environment = process.env): string {
  const base = env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache');
  const { kubernetes, etcd } = VERSIONS;
  return join(base, 'bigfleet', `kubebox-${kubernetes}-etcd-${etcd}-${process.platform}-${process.arch}`);
}

export function findKubebox(env: Environment = process.env): FoundKubebox {
  const given = env[VARIABLE];
  if (given !== undefined && given !== '') {
    const missing = missingIn(given);
    if (missing.length === 0) return { folder: given, why: null };
    return { folder: null, why: `${VARIABLE} names ${given}, which has no ${missing.join(', ')}` };
  }
  const folder = cacheFolder(env);
  if (missingIn(folder).length === 0) return { folder, why: null };
  return { folder: null, why: `it is not in ${folder}, and ${VARIABLE} is not set` };
}

export function missingIn(folder: string): readonly Program[] {
  return PROGRAMS.filter((program) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return false;
    } catch {
      return true;
    }
  });
}

/** What the API server of a folder says that it is, such as `1.36.3`; it need not be the pinned one. */
export function kubernetesVersion(folder: string): string {
  const { stdout } = spawnSync(join(folder, 'kube-apiserver'), ['--version'], { encoding: 'utf8' });
  return /^Kubernetes v(\S+)/m.exec(stdout)?.[1] ?? 'of an unknown version';
}

/** The message where there is no real control plane. */
export function notRun(tests: number, why: string): string {
  return `NOT RUN: ${tests} tests on a real Kubernetes control plane, since there is none: ${why}. "npm run k8s:build" builds it, "npm run verify:k8s" runs all of them.`;
}
