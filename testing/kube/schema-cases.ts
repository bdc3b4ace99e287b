// Shared cases about the schema of a custom resource: what an API server drops and what it refuses. Pass on the fake and on a
// real API server; see suite.ts.

import { expect } from 'vitest';
import { KubeError, type KubeObject, pathOf, RESOURCES } from '../../src/operator/kube/index.ts';
import type { Case, CaseContext } from './suite.ts';

type Loose = KubeObject & Readonly<Record<string, unknown>>;

const SCHEMA = {
  type: 'object',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1 },
        colour: { type: 'string', enum: ['red', 'blue'] },
        amounts: {
          type: 'object',
          additionalProperties: {
            anyOf: [{ type: 'integer' }, { type: 'string' }],
            pattern: '^[0-9]+m?$',
            'x-kubernetes-int-or-string': true,
          },
        },
        parts: {
          type: 'array',
          items: { type: 'object', required: ['key'], properties: { key: { type: 'string' } } },
        },
      },
    },
    status: { type: 'object', required: ['phase'], properties: { phase: { type: 'string' } } },
  },
};

interface Shapes {
  readonly path: string;
  /** The body of an object. */
  readonly shape: (name: string, content: object) => object;
}

/** A resource with the schema above. */
async function shapes(context: CaseContext): Promise<Shapes> {
  const { plane, prefix, namespace, defer } = context;
  const group = `${prefix}.schemas.example.com`;
  const name = `shapes.${group}`;
  await plane.apply([
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'shapes', singular: 'shape', kind: 'Shape', listKind: 'ShapeList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: SCHEMA },
            subresources: { status: {} },
          },
        ],
      },
    } as unknown as KubeObject,
  ]);
  defer(() => plane.admin.delete(pathOf(RESOURCES.customResourceDefinitions, { name })));
  return {
    path: `/apis/${group}/v1/namespaces/${namespace}/shapes`,
    shape: (own, content) => ({
      apiVersion: `${group}/v1`,
      kind: 'Shape',
      metadata: { name: own },
      ...content,
    }),
  };
}

async function refusal(request: Promise<unknown>): Promise<KubeError> {
  const error: unknown = await request.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof KubeError)) throw new Error(`it was not refused: ${String(error)}`);
  return error;
}

export const SCHEMA_CASES: readonly Case[] = [
  {
    title: 'given fields that the schema does not name, then they are dropped, also from the status',
    run: async (context) => {
      const { path, shape } = await shapes(context);
      const { admin } = context.plane;
      const spec = { size: 1, more: 2, amounts: { a: 1, b: '5m' }, parts: [{ key: 'x', other: 'y' }] };
      const created = await admin.create<Loose>(path, shape('a', { spec, extra: 1 }));
      expect(created['spec']).toEqual({ size: 1, amounts: { a: 1, b: '5m' }, parts: [{ key: 'x' }] });
      expect(created['extra']).toBeUndefined();
      const status = { phase: 'X', conditions: [{ type: 'Y' }] };
      const patched = await admin.patch<Loose>(`${path}/a/status`, 'merge', { status });
      expect(patched['status']).toEqual({ phase: 'X' });
    },
  },
  {
    title:
      'given values that the schema does not allow, then they are refused with 422 and the field, and with 400 without a kind',
    run: async (context) => {
      const { path, shape } = await shapes(context);
      const { admin } = context.plane;
      const made = (spec: unknown) => admin.create(path, shape('bad', { spec }));
      const refused: readonly (readonly [field: string, request: () => Promise<unknown>])[] = [
        ['spec.size', () => made({ colour: 'red' })],
        ['spec.size', () => made({ size: 'large' })],
        ['spec.size', () => made({ size: 0 })],
        ['spec.colour', () => made({ size: 1, colour: 'green' })],
        ['spec.amounts.a', () => made({ size: 1, amounts: { a: 'many' } })],
        ['spec.parts[0].key', () => made({ size: 1, parts: [{}] })],
        ['spec', () => admin.create(path, shape('bad', {}))],
      ];
      for (const [field, request] of refused) {
        const error = await refusal(request());
        expect([error.status, error.reason]).toEqual([422, 'Invalid']);
        expect(error.message).toContain(` is invalid: `);
        expect(error.message).toContain(`${field}: `);
      }
      const untyped = await refusal(admin.create(path, { metadata: { name: 'bad' }, spec: { size: 1 } }));
      expect([untyped.status, untyped.reason]).toEqual([400, 'BadRequest']);
      await admin.create(path, shape('good', { spec: { size: 1 } }));
      const error = await refusal(admin.patch(`${path}/good/status`, 'merge', { status: { other: 1 } }));
      expect([error.status, error.message.includes('status.phase: Required value')]).toEqual([422, true]);
    },
  },
];
