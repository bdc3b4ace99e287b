// What the operator reads of a CapacityRequest. The API server checks it against the CRD that is installed, which may be of
// another version than the one that `bigfleet operator manifests` prints, so nothing about its shape is certain.

import * as z from 'zod';
import { excerpt } from '../../model/index.ts';
import type { CapacityRequest } from '../kube/objects.ts';
import { UnreadableError } from './unreadable.ts';

const text = z.string();
const quantity = z.union([text, z.number()]);
const expression = z.object({ key: text, operator: text, values: z.array(text).optional() });
const selector = z.object({
  matchLabels: z.record(text, text).optional(),
  matchExpressions: z.array(expression).optional(),
});

const specSchema = z.object({
  requirements: z.array(expression).optional(),
  resources: z.record(text, quantity),
  priority: z.number().optional(),
  topologySpread: z
    .array(z.object({ maxSkew: z.number(), topologyKey: text, whenUnsatisfiable: text }))
    .optional(),
  coLocation: z.object({ topologyKey: text, labelSelector: selector.optional() }).optional(),
  interruptionPenalty: quantity.optional(),
  reclamationPenalty: quantity.optional(),
});

/** Throws an `UnreadableError` that names the first field that is not as expected. */
export function checkRequest({ spec }: CapacityRequest): void {
  const [issue] = specSchema.safeParse(spec).error?.issues ?? [];
  if (issue === undefined) return;
  const path = ['spec', ...issue.path.map(String)].join('.');
  throw new UnreadableError(
    `Its ${excerpt(path, 128)} is not as version v1alpha1 of CapacityRequest has it (${excerpt(issue.message)}).`,
    'Correct it, or install the CRD that `bigfleet operator manifests` prints.',
  );
}
