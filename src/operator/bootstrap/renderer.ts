// Answers bootstrap requests: renders the template with the facts of the machine, in mode `tokens` with a token made for
// it. Failures that may pass are retried while the shard waits, then left without an answer, since the shard asks again;
// an answer with an error is final. Nothing of a rendered template is ever logged. Used by process/operator.ts.

import { backoffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { BootstrapBlobResponse, BootstrapRequest } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { KubeError } from '../kube/client.ts';
import type { TaintRule } from '../pods/settings.ts';
import { Template } from './template.ts';
import {
  type BootstrapMode,
  type ClusterAccess,
  EXAMPLE_ACCESS,
  EXAMPLE_TOKEN,
  exampleRequests,
  type Token,
  templateScope,
  templateValues,
} from './template-context.ts';
import { TemplateError } from './template-syntax.ts';

export interface RendererParts {
  readonly cluster: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly template: BootstrapTemplate;
  readonly taintRules: readonly TaintRule[];
  /** How nodes reach the API server; null in mode `template` where it is not known. */
  readonly access: () => Promise<ClusterAccess | null>;
  /** null in mode `template`. */
  readonly tokenFor: ((machine: string) => Promise<Token>) | null;
  /** Lifetime of what is rendered in mode `template`, in seconds; 0: unlimited. */
  readonly ttlSeconds: number;
}

/** A shard waits 30 s for an answer. */
const ANSWER_MS = 25_000;
const RETRY = { baseMs: 250, maxMs: 5_000 };

/** A template that has been read and tried with examples. */
export interface BootstrapTemplate {
  readonly mode: BootstrapMode;
  readonly template: Template;
}

/** Throws a `TemplateError` for a template that cannot be used. */
export function readBootstrapTemplate(
  source: string,
  mode: BootstrapMode,
  cluster = 'example',
): BootstrapTemplate {
  const template = Template.read(source, templateScope(mode));
  for (const request of exampleRequests(cluster)) renderExample({ mode, template }, cluster, request);
  return { mode, template };
}

/** The template with example values, all or none of the facts of a machine. */
export function renderExample(
  { mode, template }: BootstrapTemplate,
  cluster: string,
  request: BootstrapRequest = exampleRequests(cluster)[0]!,
): string {
  const token = mode === 'tokens' ? EXAMPLE_TOKEN : null;
  return template.render(templateValues(request, { cluster, taintRules: [], access: EXAMPLE_ACCESS, token }));
}

export class BootstrapRenderer {
  readonly #parts: RendererParts;

  constructor(parts: RendererParts) {
    this.#parts = parts;
  }

  /** Rejects if there is no answer now; the shard asks again. */
  async answer(request: BootstrapRequest): Promise<BootstrapBlobResponse> {
    const { requestId } = request;
    try {
      const { text, ttlSeconds } = await this.#retrying(() => this.#render(request));
      return { requestId, userData: Buffer.from(text), ttlSeconds: BigInt(ttlSeconds), error: '' };
    } catch (error) {
      if (!isFinal(error)) throw error;
      const reason = `The operator of cluster ${this.#parts.cluster} cannot make what the machine starts with: ${(error as Error).message}`;
      return { requestId, userData: Buffer.alloc(0), ttlSeconds: 0n, error: reason };
    }
  }

  async #render(request: BootstrapRequest): Promise<{ text: string; ttlSeconds: number }> {
    const { cluster, clock, template, taintRules, tokenFor } = this.#parts;
    const access = await this.#parts.access();
    const token = tokenFor === null ? null : await tokenFor(request.machineId);
    const text = template.template.render(templateValues(request, { cluster, taintRules, access, token }));
    const left = token === null ? this.#parts.ttlSeconds : Math.floor((token.expiresMs - clock.now()) / 1000);
    return { text, ttlSeconds: Math.max(0, left) };
  }

  async #retrying<T>(run: () => Promise<T>): Promise<T> {
    const { clock, random } = this.#parts;
    const untilMs = clock.now() + ANSWER_MS;
    for (let failures = 1; ; failures++) {
      try {
        return await run();
      } catch (error) {
        const waitMs = backoffMs(random, RETRY, failures);
        if (isFinal(error) || clock.now() + waitMs >= untilMs) throw error;
        await new Promise<void>((resolve) => clock.after(waitMs, resolve));
      }
    }
  }
}

/** Whether the same request would fail again: the template refuses a value, or the operator lacks a right. */
function isFinal(error: unknown): boolean {
  return error instanceof TemplateError || (error instanceof KubeError && error.status === 403);
}
