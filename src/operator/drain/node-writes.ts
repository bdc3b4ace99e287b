// The writes of a drain to its Node: cordon, progress, and the end. Each is one patch with the resource version that was
// read, so that the record on the node and `spec.unschedulable` never disagree, and a cordon by a person is told apart
// from our own. A busy API server is not waited for: every caller tries again later.

import { type KubeClient, KubeError, type RequestOptions } from '../kube/client.ts';
import type { Node } from '../kube/objects.ts';
import { DRAIN_ANNOTATION, DRAIN_FAILED_ANNOTATION } from '../nodes/node-table.ts';
import { nodePath } from '../nodes/paths.ts';
import { type DrainRecord, type FailedDrain, recordOf } from './record.ts';

/** The kubelet changes its Node now and then; more conflicts than this in a row are another controller at work. */
const MAX_CONFLICTS = 5;
const AT_ONCE: RequestOptions = { maxRetries: 0 };

export class NodeWrites {
  readonly #kube: KubeClient;

  constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  /** The node as the API server has it now; null if there is none. */
  async read(name: string): Promise<Node | null> {
    try {
      return await this.#kube.get<Node>(nodePath(name), AT_ONCE);
    } catch (error) {
      if (error instanceof KubeError && error.isNotFound) return null;
      throw error;
    }
  }

  /**
   * Cordons the node and writes the record that `make` returns for the node as it is now. Returns the record, or null if
   * the node is gone or `make` declines.
   */
  async cordon(name: string, make: (node: Node) => DrainRecord | null): Promise<DrainRecord | null> {
    return await this.#change(name, (node) => {
      const record = make(node);
      if (record === null) return null;
      const text = JSON.stringify(record);
      const isWritten =
        node.metadata.annotations?.[DRAIN_ANNOTATION] === text && node.spec?.unschedulable === true;
      const body = isWritten
        ? null
        : {
            metadata: { annotations: { [DRAIN_ANNOTATION]: text, [DRAIN_FAILED_ANNOTATION]: null } },
            spec: { unschedulable: true },
          };
      return { body, result: record };
    });
  }

  /** Removes the record of the instruction, and the cordon if it is ours. Another instruction's record stays. */
  async release(name: string, instruction: string | null, failed?: FailedDrain): Promise<boolean> {
    const done = await this.#change(name, (node) => {
      const text = node.metadata.annotations?.[DRAIN_ANNOTATION];
      if (text === undefined) return null;
      const record = recordOf(node);
      if (record !== null && instruction !== null && record.instruction !== instruction) return null;
      // A record that cannot be read was written by an operator all the same.
      const isOurs = record?.cordoned ?? true;
      return {
        body: {
          metadata: {
            annotations: {
              [DRAIN_ANNOTATION]: null,
              ...(failed === undefined ? {} : { [DRAIN_FAILED_ANNOTATION]: JSON.stringify(failed) }),
            },
          },
          ...(isOurs ? { spec: { unschedulable: null } } : {}),
        },
        result: true,
      };
    });
    return done ?? false;
  }

  async #change<T>(
    name: string,
    decide: (node: Node) => { readonly body: object | null; readonly result: T } | null,
  ): Promise<T | null> {
    for (let attempt = 1; ; attempt++) {
      const node = await this.read(name);
      const change = node === null ? null : decide(node);
      if (change === null) return null;
      if (change.body === null) return change.result;
      try {
        await this.#kube.patch(nodePath(name), 'merge', withVersion(change.body, node!), AT_ONCE);
        return change.result;
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        if (error.isNotFound) return null;
        if (!error.isConflict || attempt >= MAX_CONFLICTS) throw error;
      }
    }
  }
}

function withVersion(body: object, node: Node): object {
  const { metadata } = body as { readonly metadata: object };
  return { ...body, metadata: { ...metadata, resourceVersion: node.metadata.resourceVersion } };
}
