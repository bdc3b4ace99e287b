// Checks answers of the API against the OpenAPI document that a shard serves, for openapi.test.ts and
// shard-openapi.test.ts.

import { Ajv2020 } from 'ajv/dist/2020.js';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

export interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

/** All operations, as `GET /v1/machines/{id}`, sorted. */
export function operationsIn({ paths }: OpenApi): string[] {
  return Object.entries(paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .toSorted();
}

const JSON_SCHEMA = ['content', 'application/json', 'schema'];

export class AnswerCheck {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });

  constructor(document: OpenApi) {
    this.#ajv.addSchema(closed(document as unknown as Json) as object, 'openapi');
  }

  /** Problems of the JSON answer of a route, undocumented fields included; empty if there are none. */
  problems(path: string, method: string, answer: unknown): string[] {
    return this.#check(['paths', path, method, 'responses', '200', ...JSON_SCHEMA], answer);
  }

  problemsOfRefusal(answer: unknown): string[] {
    return this.#check(['components', 'responses', 'Refusal', ...JSON_SCHEMA], answer);
  }

  /** Problems of a value of a named schema. */
  problemsOf(schema: string, value: unknown): string[] {
    return this.#check(['components', 'schemas', schema], value);
  }

  #check(at: readonly string[], value: unknown): string[] {
    const pointer = at.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')));
    const check = this.#ajv.getSchema(`openapi#/${pointer.join('/')}`);
    if (check === undefined) return [`the document has no ${at.join(' ')}`];
    if (check(value) === true) return [];
    const found = (check.errors ?? []).slice(0, 20);
    return found.map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }
}

/** The document with every object closed, so that an undocumented field is a problem. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map((each: Json) => closed(each));
  if (typeof schema !== 'object' || schema === null) return schema;
  const inside = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const isOpen = inside['type'] === 'object' && 'properties' in inside && !('additionalProperties' in inside);
  return isOpen ? { ...inside, additionalProperties: false } : inside;
}
