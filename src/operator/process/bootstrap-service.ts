// The bootstrap of new machines as the process runs it: template, tokens and access to the API server from the settings.
// Made by operator.ts.

import { readFileSync } from 'node:fs';
import { BigFleetError, type Problem, printable } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/logger.ts';
import type { Random } from '../../runtime/random.ts';
import type { BootstrapBlobResponse, BootstrapRequest } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { clusterAccess } from '../bootstrap/cluster-access.ts';
import { KUBEADM_TEMPLATE } from '../bootstrap/default-template.ts';
import { BootstrapRenderer, type BootstrapTemplate, readBootstrapTemplate } from '../bootstrap/renderer.ts';
import type { ClusterAccess } from '../bootstrap/template-context.ts';
import { TemplateError } from '../bootstrap/template-syntax.ts';
import { BootstrapTokens } from '../bootstrap/tokens.ts';
import type { KubeClient } from '../kube/client.ts';
import type { OperatorMetrics } from './operator-metrics.ts';
import type { KubeAccess } from './parts.ts';
import type { OperatorSettings } from './settings.ts';

/** Reads a file; tests pass their own. */
export type ReadText = (path: string) => string;

export const readText: ReadText = (path) => readFileSync(path, 'utf8');

/** The template of the settings, checked. Throws a `BigFleetError` with its line and column if it cannot be used. */
export function bootstrapTemplateOf(
  { bootstrap, cluster }: OperatorSettings,
  read: ReadText,
): BootstrapTemplate {
  const { mode, templateFile } = bootstrap;
  const source = templateFile === undefined ? KUBEADM_TEMPLATE : textOf(templateFile, read);
  try {
    return readBootstrapTemplate(source, mode, cluster);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const path = printable(templateFile ?? 'template of mode tokens');
    const problem: Problem = { code: 'BF_CONFIG_INVALID', path, message: error.message };
    throw new BigFleetError('BF_CONFIG_INVALID', `\n  ${path}: ${error.message}\n`, {
      problems: [problem],
      cause: error,
    });
  }
}

function textOf(path: string, read: ReadText): string {
  try {
    return read(path);
  } catch (cause) {
    throw new BigFleetError('BF_INPUT_UNREADABLE', `${(cause as Error).message}.`, { path, cause });
  }
}

export interface BootstrapServiceParts {
  readonly settings: OperatorSettings;
  readonly template: BootstrapTemplate;
  readonly read: ReadText;
  readonly access: KubeAccess;
  /** Its writes fail while this replica does not lead. */
  readonly writer: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: OperatorMetrics;
}

export class BootstrapService {
  readonly #parts: BootstrapServiceParts;
  /** null in mode `template`. */
  readonly #tokens: BootstrapTokens | null;
  readonly #renderer: BootstrapRenderer;
  #access: ClusterAccess | null = null;

  constructor(parts: BootstrapServiceParts) {
    const { settings, template, writer, namespace, clock, random, log } = parts;
    const { cluster, bootstrap, demand } = settings;
    this.#parts = parts;
    const tokens =
      bootstrap.mode === 'template'
        ? null
        : new BootstrapTokens({
            client: writer,
            clock,
            options: { cluster, namespace, ttlMs: bootstrap.tokenLifetime, groups: bootstrap.tokenGroups },
            onProblem: (what, error) =>
              log('warn', 'bootstrap-token-problem', { what, error: messageOf(error) }),
          });
    this.#tokens = tokens;
    this.#renderer = new BootstrapRenderer({
      cluster,
      clock,
      random,
      template,
      taintRules: demand.taints,
      access: () => this.#clusterAccess(),
      tokenFor: tokens === null ? null : (machine) => tokens.tokenFor(machine),
      ttlSeconds: Math.floor(bootstrap.lifetime / 1000),
    });
    parts.metrics.onScrape(() => parts.metrics.tokens.set(tokens?.size ?? 0));
  }

  lead(): void {
    void this.#tokens?.start();
  }

  rest(): void {
    this.#tokens?.stop();
  }

  joined(machineId: string): void {
    this.#tokens?.joined(machineId);
  }

  /** Nothing of the answer is logged: it contains secrets. */
  async answer(request: BootstrapRequest): Promise<BootstrapBlobResponse> {
    const { metrics, log } = this.#parts;
    const { requestId, machineId } = request;
    try {
      const response = await this.#renderer.answer(request);
      const { error, userData } = response;
      metrics.bootstraps.of({ outcome: error === '' ? 'answered' : 'refused' }).add();
      if (error === '') log('info', 'bootstrap-answered', { requestId, machineId, bytes: userData.length });
      else log('error', 'bootstrap-refused', { requestId, machineId, error });
      return response;
    } catch (error) {
      metrics.bootstraps.of({ outcome: 'unanswered' }).add();
      throw error;
    }
  }

  /** Read once: the endpoint and the authority of a cluster outlive the operator's certificates and tokens. */
  async #clusterAccess(): Promise<ClusterAccess | null> {
    const { settings, read, access, log } = this.#parts;
    const { mode, endpoint, caFile } = settings.bootstrap;
    if (this.#access !== null) return this.#access;
    try {
      const sources = {
        endpoint,
        caBundle: caFile === undefined ? undefined : read(caFile),
        own: { server: access.server, caBundle: access.caBundle, isInCluster: access.isInCluster },
      };
      this.#access = await clusterAccess(sources, access.urgentClient);
      return this.#access;
    } catch (error) {
      if (mode === 'tokens') throw error;
      // Templates of managed clusters often need neither.
      log('debug', 'bootstrap-access-unknown', { error: messageOf(error) });
      return null;
    }
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
