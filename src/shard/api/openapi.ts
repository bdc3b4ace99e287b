// The OpenAPI 3.1 document of the API, derived from the table of routes and the view schemas, and the table of routes
// of docs/reference/api.md. Used by routes.ts, which serves the document, and by scripts/generate.ts.

import * as z from 'zod';
import { VIEWS } from '../views/schema.ts';
import type { Access } from './guard.ts';
import { isTextAnswer, type Route } from './route.ts';

const COMPONENTS = '#/components/schemas/';

type JsonSchema = z.core.JSONSchema.JSONSchema;

const CALLERS: Readonly<Record<Access, string>> = {
  open: 'Needs no identity.',
  read: 'For the roles view and operate; on loopback without TLS for every caller.',
  order: 'For the role operate; on loopback without TLS for every caller.',
};

/** The document as JSON. */
export function openApiText(routes: readonly Route[]): string {
  return `${JSON.stringify(openApi(routes), null, 2)}\n`;
}

function openApi(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'BigFleet shard',
      version: 'v1',
      description: 'The read and control API of a shard.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8780', description: 'The default address of a shard.' }],
    paths,
    components: {
      schemas: componentSchemas(),
      responses: {
        Refusal: {
          description: 'The request was refused or failed.',
          content: { 'application/json': { schema: REFUSAL } },
        },
      },
      securitySchemes: {
        certificate: {
          type: 'mutualTLS',
          description:
            'A client certificate of the authority of the fleet, where the shard serves TLS: `bigfleet://readonly` has the role view, `bigfleet://admin` the role operate.',
        },
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of the file `apiTokensFile`, which says its role.',
        },
        login: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-bigfleet-PORT',
          description:
            'For browsers: the cookie that `POST /v1/login` sets, without the prefix if TLS is not served.',
        },
      },
    },
  };
}

const REFUSAL: JsonSchema = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { type: 'string', description: 'A word for programs, one for each status.' },
        message: { type: 'string', description: 'For people.' },
      },
      required: ['code', 'message'],
    },
  },
  required: ['error'],
};

function operation(route: Route): object {
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: CALLERS[route.access],
    // An empty requirement beside: on loopback without TLS no identity is needed.
    security: route.access === 'open' ? [] : [{ certificate: [] }, { token: [] }, { login: [] }, {}],
    parameters: [...parameters(route, 'path'), ...parameters(route, 'query')],
    ...(route.body === undefined
      ? {}
      : {
          requestBody: { required: true, content: { 'application/json': { schema: schemaOf(route.body) } } },
        }),
    responses: { ...answers(route), default: { $ref: '#/components/responses/Refusal' } },
  };
}

/** `get-machines-id`: unique, because method and path are. */
function operationId({ method, path }: Route): string {
  const parts = path.replace(/^\/v1/, '').match(/[\w.-]+/g) ?? [];
  return [method.toLowerCase(), ...parts].join('-');
}

function parameters({ params, query }: Route, place: 'path' | 'query'): object[] {
  const { properties = {}, required = [] } = schemaOf((place === 'path' ? params : query) ?? z.object({}));
  return Object.entries(properties).map(([name, { description, ...schema }]: [string, JsonSchema]) => ({
    name,
    in: place,
    // A parameter with a default is always there for the handler, and may be left out by the caller.
    required: place === 'path' || (required.includes(name) && schema.default === undefined),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

function answers({ answer }: Route): object {
  if (!isTextAnswer(answer)) {
    const schema = { $ref: `${COMPONENTS}${VIEWS.get(answer)!.id}` };
    return { 200: { description: answer.description ?? '', content: { 'application/json': { schema } } } };
  }
  const { contentType, description, statuses = {} } = answer;
  const content = {
    [contentType]: { schema: { type: contentType === 'application/json' ? 'object' : 'string' } },
  };
  const others = Object.entries(statuses).map(([status, meaning]) => [
    status,
    { description: meaning, content },
  ]);
  return { 200: { description, content }, ...Object.fromEntries(others) };
}

/** What a handler receives, which for parameters is their meaning: `limit` is an integer, although it is sent as text. */
function schemaOf(schema: z.ZodObject): JsonSchema & { properties?: Record<string, JsonSchema> } {
  return bare(z.toJSONSchema(schema)) as JsonSchema & { properties?: Record<string, JsonSchema> };
}

/** Without the keywords that identify a schema by itself; the document has one dialect, and its own names. */
function bare({ $schema: _dialect, $id: _id, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

function componentSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(VIEWS, {
    uri: (id) => `${COMPONENTS}${id}`,
    override: ({ jsonSchema }) => {
      // Later versions may add fields to an answer, so the document does not exclude them.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      // True of every integer and of every name in JSON.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      const { propertyNames: names } = jsonSchema;
      if (typeof names === 'object' && names.enum === undefined) delete jsonSchema.propertyNames;
    },
  });
  return Object.fromEntries(
    Object.entries(schemas)
      .map(([id, schema]) => [id, bare(schema)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Markdown: every route with its parameters, callers and summary. */
export function routeTable(routes: readonly Route[]): string {
  const rows = routes.map(({ method, path, query, body, access, summary }) => {
    const inputs = Object.keys((body ?? query)?.shape ?? {}).map((name) => `\`${name}\``);
    return `| \`${method} ${path}\` | ${inputs.join(', ')} | ${ROLES[access]} | ${summary} |`;
  });
  return ['| route | parameters or fields | for | what |', '|---|---|---|---|', ...rows].join('\n');
}

const ROLES: Readonly<Record<Access, string>> = {
  open: 'everyone',
  read: '*view*, *operate*',
  order: '*operate*',
};
