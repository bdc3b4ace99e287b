// Test support: the objects of an API server in memory, as far as bootstrap tokens and leader election use one. Records all
// writes, and fails on request. Tests of lists and watches use testing/kube.

import {
  type KubeClient,
  KubeError,
  type PatchType,
  type WatchEvent,
} from '../../src/operator/kube/client.ts';
import type { KubeList, KubeObject } from '../../src/operator/kube/objects.ts';

type Stored = Record<string, unknown> & { metadata: Record<string, unknown> & { name: string } };

/** Of all instances, since several may share their objects. */
let version = 0;

export class MemoryKube implements KubeClient {
  /** By path. */
  readonly objects = new Map<string, Stored>();
  readonly writes: string[] = [];
  /** Called before each request; throws to fail it. */
  before: (verb: string, path: string) => void | Promise<void> = () => {};

  async get<T extends KubeObject>(path: string): Promise<T> {
    await this.before('get', path);
    return structuredClone(this.#at(path)) as unknown as T;
  }

  async list<T extends KubeObject>(path: string): Promise<KubeList<T>> {
    await this.before('list', path);
    const items = [...this.objects]
      .filter(([each]) => each.startsWith(`${path}/`))
      .map(([, object]) => object);
    return { metadata: { resourceVersion: String(version) }, items: items as unknown as T[] };
  }

  async create<T extends KubeObject>(path: string, object: unknown): Promise<T> {
    await this.before('create', path);
    const { name } = (object as Stored).metadata;
    const full = `${path}/${name}`;
    if (this.objects.has(full)) throw new KubeError('exists', { status: 409, reason: 'AlreadyExists' });
    return this.#put('create', full, object as Stored);
  }

  async update<T extends KubeObject>(path: string, object: unknown): Promise<T> {
    await this.before('update', path);
    const { resourceVersion } = (object as Stored).metadata;
    if (resourceVersion !== this.#at(path).metadata['resourceVersion'])
      throw new KubeError('changed', { status: 409, reason: 'Conflict' });
    return this.#put('update', path, object as Stored);
  }

  async patch<T extends KubeObject>(path: string, _type: PatchType, body: unknown): Promise<T> {
    await this.before('patch', path);
    return this.#put('patch', path, merged(this.#at(path), body) as Stored);
  }

  async delete(path: string): Promise<void> {
    await this.before('delete', path);
    this.#at(path);
    this.objects.delete(path);
    this.writes.push(`delete ${path}`);
  }

  watch<T extends KubeObject>(): AsyncIterable<WatchEvent<T>> {
    throw new Error('testing/operator/memory-kube.ts has no watches');
  }

  #at(path: string): Stored {
    const found = this.objects.get(path);
    if (found === undefined) throw new KubeError(`${path} not found`, { status: 404, reason: 'NotFound' });
    return found;
  }

  #put<T>(verb: string, path: string, object: Stored): T {
    const stored = structuredClone(object);
    stored.metadata['resourceVersion'] = String(++version);
    this.objects.set(path, stored);
    this.writes.push(`${verb} ${path}`);
    return structuredClone(stored) as T;
  }
}

/** JSON merge patch. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = typeof target === 'object' && target !== null ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}
