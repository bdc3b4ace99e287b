// Building blocks of the view schemas in this folder. A schema is the one definition of a view: its type, its entry in the
// OpenAPI document and the check of real answers in tests are derived from it. Answers are not validated at run time. Views
// are plain data, serialised to JSON without conversion. Times are milliseconds since the Unix epoch by the shard's clock;
// quantities are Kubernetes quantity strings.

import * as z from 'zod';
import { ACTION_KINDS } from '../../model/index.ts';
import { ERROR_CLASSES } from '../inventory/error-class.ts';

/** The views that have a name of their own in the OpenAPI document. */
export const VIEWS = z.registry<{ id: string }>();

/** Registered after `describe`, which returns a copy. */
export function view<S extends z.ZodRawShape>(id: string, description: string, shape: S): z.ZodObject<S> {
  const schema = z.object(shape).describe(description) as unknown as z.ZodObject<S>;
  VIEWS.add(schema, { id });
  return schema;
}

/** The type of a view: what its schema describes, read-only at every depth. */
export type View<S extends z.ZodType> = ReadonlyDeep<z.output<S>>;

type ReadonlyDeep<T> = T extends readonly (infer E)[]
  ? readonly ReadonlyDeep<E>[]
  : T extends object
    ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
    : T;

export const count = z.int().nonnegative();

export const timeMs = z.number().describe('Milliseconds since the Unix epoch, by the clock of the shard.');

export const Quantities = z
  .record(z.string(), z.string())
  .describe('Kubernetes quantities by resource name, such as `{"cpu": "63500m", "memory": "256Gi"}`.');
export type Quantities = View<typeof Quantities>;

export const Counts = z.record(z.string(), count);
export type Counts = View<typeof Counts>;

export const machinesByState = Counts.describe(
  'Number of machines by state. States have their wire names without the prefix, such as `CONFIGURED`.',
);

export const actionKind = z.enum(ACTION_KINDS);

export const errorClass = z.enum(ERROR_CLASSES);

export const NeedRef = view('NeedRef', 'A row of demand.', {
  id: z
    .string()
    .describe(
      'The cluster, a slash and ten hexadecimal digits derived from the rest of the key of the row; short enough to type.',
    ),
  cluster: z.string(),
  group: z.string(),
  priority: z.number(),
});
export type NeedRef = View<typeof NeedRef>;

/** A page of a list; `Page` in planning/queries/pages.ts is its type. */
export function page<S extends z.ZodType>(id: string, item: S) {
  return view(id, 'A page of a list.', {
    items: z.array(item),
    total: count.describe('Number of items in the whole list.'),
    next: z
      .string()
      .nullable()
      .describe('Cursor of the next page, to be sent as `after`; null on the last page.'),
  });
}
