// Bootstrap tokens: one Secret in kube-system per machine that is to join, as kubeadm and the API server define them. A
// token is reused while it is valid for the same machine, and its Secret is deleted when the node has joined or the token
// has expired. The operator may create and delete these Secrets and read none: which ones it made is in a ConfigMap of its
// own namespace, without the secret part, so that a restarted operator removes what another one left. Used by renderer.ts.

import { randomInt } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import { type KubeClient, KubeError } from '../kube/client.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { Token } from './template-context.ts';

interface TokenOptions {
  readonly cluster: string;
  /** Namespace of the operator, for the ConfigMap. */
  readonly namespace: string;
  readonly ttlMs: number;
  /** Groups of a node that authenticates with a token, each `system:bootstrappers:…`. */
  readonly groups: readonly string[];
}

export interface TokenParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly options: TokenOptions;
  /** A token whose Secret could not be deleted, or the like; the token is tried again later. */
  readonly onProblem: (what: string, error: unknown) => void;
  /** Characters of ids and secrets; tests pass their own. */
  readonly characters?: (count: number) => string;
}

/** Outstanding tokens; a ConfigMap has room for about 7,000 entries. */
const MAX_TOKENS = 5_000;
/** How long expired tokens may stay; the API server refuses them anyway. */
const SWEEP_MS = 60_000;
const ID_CHARACTERS = 6;
const SECRET_CHARACTERS = 16;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

export const TOKENS_CONFIG_MAP = 'bigfleet-operator-tokens';
const SECRETS = '/api/v1/namespaces/kube-system/secrets';

interface Issued {
  readonly machine: string;
  readonly expiresMs: number;
  /** null: issued by an earlier process, which knew it. */
  readonly token: Token | null;
}

export class BootstrapTokens {
  readonly #parts: TokenParts;
  readonly #characters: (count: number) => string;
  /** By token id. */
  readonly #issued = new Map<string, Issued>();
  readonly #minting = new Map<string, Promise<Token>>();
  /** Changes with each start and stop: what an earlier term has under way must not add to what this one knows. */
  #term = 0;
  /** Ends when the list of an earlier process has been read, or could not be. */
  #loading: Promise<void> = Promise.resolve();
  readonly #deleting = new Set<string>();
  #cancelSweep: (() => void) | null = null;

  constructor(parts: TokenParts) {
    this.#parts = parts;
    this.#characters = parts.characters ?? randomCharacters;
  }

  /** Outstanding tokens. */
  get size(): number {
    return this.#issued.size;
  }

  /** Reads which tokens an earlier process has issued, and begins to remove expired ones. Never rejects. */
  start(): Promise<void> {
    this.#cancelSweep ??= this.#sweepLater();
    this.#loading = this.#load(++this.#term);
    return this.#loading;
  }

  async #load(term: number): Promise<void> {
    try {
      const { data = {} } = await this.#parts.client.get<TokenLedger>(this.#ledgerPath());
      if (term !== this.#term) return;
      for (const [id, text] of Object.entries(data).slice(0, MAX_TOKENS)) {
        const entry = readEntry(text);
        if (entry !== null && !this.#issued.has(id)) this.#issued.set(id, { ...entry, token: null });
      }
    } catch (error) {
      if (!(error instanceof KubeError && error.isNotFound)) this.#parts.onProblem('list of tokens', error);
    }
  }

  /** Forgets all tokens: the next leader removes them when their nodes join, and `start` reads what is left. */
  stop(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = null;
    this.#term++;
    this.#issued.clear();
    this.#minting.clear();
    this.#loading = Promise.resolve();
  }

  /** A token for a machine, with at least half of its lifetime left. Rejects with a `KubeError`. */
  async tokenFor(machine: string): Promise<Token> {
    const { clock, options } = this.#parts;
    await this.#loading;
    // A shard of the reference does not name the machine; such tokens are not shared.
    if (machine === '') return await this.#mint(machine);
    const earliest = clock.now() + options.ttlMs / 2;
    for (const { machine: owner, token } of this.#issued.values())
      if (owner === machine && token !== null && token.expiresMs >= earliest) return token;
    let minting = this.#minting.get(machine);
    if (minting === undefined) {
      const minted = this.#mint(machine).finally(() => {
        if (this.#minting.get(machine) === minted) this.#minting.delete(machine);
      });
      this.#minting.set(machine, minted);
      minting = minted;
    }
    return await minting;
  }

  /** The node of a machine has joined: its tokens are removed. */
  joined(machine: string): void {
    if (machine !== '') this.#remove((issued) => issued.machine === machine);
  }

  async #mint(machine: string): Promise<Token> {
    if (this.#issued.size >= MAX_TOKENS)
      throw new KubeError(`${MAX_TOKENS} bootstrap tokens are outstanding; no more are made.`, {
        status: 429,
      });
    const { client, clock, options } = this.#parts;
    const term = this.#term;
    const id = this.#characters(ID_CHARACTERS);
    const secret = this.#characters(SECRET_CHARACTERS);
    // Seconds, as the Secret has them.
    const expiresMs = Math.floor((clock.now() + options.ttlMs) / 1000) * 1000;
    const token: Token = { text: `${id}.${secret}`, expiresMs };
    // First, so that a crash leaves an entry without a Secret and not a Secret without an entry.
    await this.#record(id, { machine, expiresMs });
    if (term !== this.#term) throw endedError();
    this.#issued.set(id, { machine, expiresMs, token: null });
    try {
      await client.create(SECRETS, this.#secret(id, secret, machine, expiresMs));
    } catch (error) {
      // A token of another owner has this id: it must not be deleted with ours.
      if (error instanceof KubeError && error.isConflict) {
        this.#issued.delete(id);
        await this.#record(id, null);
      }
      throw error;
    }
    if (term !== this.#term) throw endedError();
    const obsolete = (issued: Issued) =>
      machine !== '' && issued.machine === machine && issued.token === null;
    this.#issued.set(id, { machine, expiresMs, token });
    this.#remove(obsolete);
    return token;
  }

  #secret(id: string, secret: string, machine: string, expiresMs: number): unknown {
    const { cluster, groups } = this.#parts.options;
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: `bootstrap-token-${id}`,
        namespace: 'kube-system',
        labels: { 'app.kubernetes.io/managed-by': 'bigfleet-operator' },
      },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        description: `BigFleet: for machine ${machine === '' ? '(not named)' : machine} of cluster ${cluster} to join.`,
        'token-id': id,
        'token-secret': secret,
        expiration: new Date(expiresMs).toISOString().replace(/\.\d+Z$/, 'Z'),
        'usage-bootstrap-authentication': 'true',
        'usage-bootstrap-signing': 'true',
        'auth-extra-groups': groups.join(','),
      },
    };
  }

  async #record(id: string, entry: LedgerEntry | null): Promise<void> {
    const { client, options } = this.#parts;
    const { namespace } = options;
    const data = { [id]: entry === null ? null : JSON.stringify(entry) };
    try {
      await client.patch(this.#ledgerPath(), 'merge', { data });
    } catch (error) {
      if (!(error instanceof KubeError && error.isNotFound) || entry === null) throw error;
      const metadata = { name: TOKENS_CONFIG_MAP, namespace };
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      try {
        await client.create(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
      } catch (second) {
        if (!(second instanceof KubeError && second.isConflict)) throw second;
        // Another request has just created it.
        await client.patch(this.#ledgerPath(), 'merge', { data });
      }
    }
  }

  #ledgerPath(): string {
    return `/api/v1/namespaces/${this.#parts.options.namespace}/configmaps/${TOKENS_CONFIG_MAP}`;
  }

  #sweepLater(): () => void {
    return this.#parts.clock.after(SWEEP_MS, () => {
      const now = this.#parts.clock.now();
      this.#remove(({ expiresMs }) => expiresMs <= now);
      this.#cancelSweep = this.#sweepLater();
    });
  }

  #remove(isObsolete: (issued: Issued) => boolean): void {
    for (const [id, issued] of this.#issued) if (isObsolete(issued)) void this.#delete(id);
  }

  /** A Secret that cannot be deleted now is tried again when its token has expired. */
  async #delete(id: string): Promise<void> {
    if (this.#deleting.has(id)) return;
    this.#deleting.add(id);
    try {
      await this.#parts.client.delete(`${SECRETS}/bootstrap-token-${id}`).catch((error: unknown) => {
        if (!(error instanceof KubeError && error.isNotFound)) throw error;
      });
      await this.#record(id, null).catch((error: unknown) => {
        if (!(error instanceof KubeError && error.isNotFound)) throw error;
      });
      this.#issued.delete(id);
    } catch (error) {
      this.#parts.onProblem(`deletion of bootstrap token ${id}`, error);
    } finally {
      this.#deleting.delete(id);
    }
  }
}

/** The next leader finds the token in the list, and the shard asks it again. */
function endedError(): KubeError {
  return new KubeError('This replica stopped leading while it made a bootstrap token.', { status: 0 });
}

interface LedgerEntry {
  readonly machine: string;
  readonly expiresMs: number;
}

type TokenLedger = KubeObject & { readonly data?: Readonly<Record<string, string>> };

/** null if the text is not an entry, for example because a person has edited it. */
function readEntry(text: string): LedgerEntry | null {
  try {
    const { machine, expiresMs } = JSON.parse(text) as Partial<LedgerEntry>;
    return typeof machine === 'string' && typeof expiresMs === 'number' ? { machine, expiresMs } : null;
  } catch {
    return null;
  }
}

function randomCharacters(count: number): string {
  return Array.from({ length: count }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}
