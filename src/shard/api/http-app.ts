// The routes as a fastify application: checks of origin and identity, validation, handlers, limits and refusals. serve.ts
// gives it the server, with its sockets, timeouts and certificates.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
  fastify,
} from 'fastify';
import type * as z from 'zod';
import { excerpt } from '../../model/index.ts';
import type { ShardPort } from '../views.ts';
import type { Caller } from './access.ts';
import { type Access, checkJson, checkOrigin } from './guard.ts';
import { accepted, jsonObjectOf, NO_PARAMETERS, queryOf } from './inputs.ts';
import { MAX_BODY_BYTES, Refusal, refusalOf } from './refusal.ts';
import { isTextAnswer, type Route, type RouteHooks, type TextReply } from './route.ts';
import { ROUTES } from './routes.ts';
import { streamed } from './streamed.ts';

/** Serves paths outside `/v1/`, GET and POST; false: there is no such page. */
export type Pages = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

export interface HttpAppParts {
  readonly port: ShardPort;
  readonly hooks: RouteHooks;
  readonly pages: Pages | undefined;
  /** Asked in place of `pages` for pages if the caller has no identity, and for its own files. */
  readonly loginPages: Pages | undefined;
  /** Whether Host must be a loopback name. */
  readonly checksHost: boolean;
  /** Longest time of the shard for an answer. */
  readonly answerMs: number;
  readonly serverFactory: FastifyServerFactory;
  /** Called for bytes that are not an HTTP request, and for requests that are not completed in time. */
  readonly onClientError: (error: Error, socket: Duplex) => void;
  /** Called for each request that exceeds `MAX_REQUESTS`. */
  readonly onOverload: () => void;
}

/** Most in-flight requests; each may be a question queued at the controller, and an answer of some megabytes. */
const MAX_REQUESTS = 64;

/** Characters; Node refuses longer request heads before, so that this never limits a name. */
const MAX_PARAM_LENGTH = 16 * 1024;

const JSON_TYPE = 'application/json';
const CSV_TYPE = 'text/csv; charset=utf-8';

export async function httpApp(parts: HttpAppParts): Promise<FastifyInstance> {
  const app = fastify({
    serverFactory: parts.serverFactory,
    clientErrorHandler: parts.onClientError,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, querystringParser: queryOf },
    frameworkErrors: (error, request, reply) =>
      void refuse(request as FastifyRequest, reply as FastifyReply, error),
    // Never called, since zod validates requests and answers are serialised without a schema. By default fastify would
    // load Ajv and fast-json-stringify.
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
  });
  app.setValidatorCompiler(validatorOf);
  app.removeAllContentTypeParsers();
  // For every type, since `checkJson` refuses a POST of another type first. Bodies of other methods are ignored.
  app.addContentTypeParser(
    '*',
    { parseAs: 'string', bodyLimit: MAX_BODY_BYTES },
    async (request: FastifyRequest, body: string) =>
      request.method === 'POST' ? jsonObjectOf(body) : undefined,
  );
  const pages = new PageServer(app, parts);
  app.addHook('onRequest', async (request) => {
    checkOrigin(request.raw, parts.checksHost);
    if (request.is404) pages.check(request);
    else if (hasEmptyPart(request.params)) throw nothingAt(pathOf(request));
  });
  app.setErrorHandler((error, request, reply) => refuse(request, reply, error));
  app.setNotFoundHandler(async (request, reply) => {
    await pages.serve(request, reply);
    return reply.hijack();
  });
  const answer = answerWithinLimits(parts);
  for (const route of ROUTES) addRoute(app, route, parts, answer);
  await app.ready();
  return app;
}

function unused(): never {
  throw new Error('A route has a schema that no compiler is set for.');
}

function validatorOf({ schema, httpPart }: { schema: unknown; httpPart?: string | undefined }) {
  const part = httpPart === 'body' ? 'field' : 'parameter';
  return (given: unknown) => accepted(part, schema as z.ZodObject, given);
}

type Handle = (call: Parameters<Route['handle']>[0]) => Promise<unknown>;
type Answer = (
  route: Route,
  request: FastifyRequest,
  response: ServerResponse,
  handle: Handle,
) => Promise<unknown>;

function addRoute(app: FastifyInstance, route: Route, { hooks }: HttpAppParts, answer: Answer): void {
  const callers = new WeakMap<FastifyRequest, Caller>();
  app.route({
    method: route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    schema: {
      ...(route.params === undefined ? {} : { params: route.params }),
      querystring: route.query ?? NO_PARAMETERS,
      ...(route.body === undefined ? {} : { body: route.body }),
    },
    onRequest: async (request) => {
      const caller = hooks.access.check(request.raw, route.access);
      if (caller !== null) callers.set(request, caller);
      if (route.body !== undefined) checkJson(request.raw);
    },
    preValidation: async (request) => signAs(callers.get(request), route, request),
    handler: async (request, reply) => {
      const asCsv = wantsCsv(request) ? csvHandle(route) : undefined;
      const result = await answer(route, request, reply.raw, asCsv ?? route.handle);
      if (asCsv !== undefined) return handOver(reply);
      if (!isTextAnswer(route.answer)) return send(reply, 200, JSON_TYPE, jsonLine(result));
      const { status = 200, text = null } = (result as TextReply) ?? {};
      if (text !== null) return send(reply, status, route.answer.contentType, text);
      return route.access === 'open' ? reply.hijack() : handOver(reply);
    },
  });
  /** The handler writes the response by itself, and its caller may lose its identity meanwhile. */
  function handOver(reply: FastifyReply): FastifyReply {
    hooks.access.watch(reply.raw);
    return reply.hijack();
  }
}

/** Orders of a caller with an identity are in its name, whatever the request says: a text proves nothing. */
function signAs(caller: Caller | undefined, { body, query }: Route, request: FastifyRequest): void {
  const [schema, given] = body === undefined ? [query, request.query] : [body, request.body];
  if (caller === undefined || schema === undefined || !('who' in schema.shape)) return;
  if (typeof given === 'object' && given !== null) Object.assign(given, { who: caller.name });
}

/** The parts of a request as the schemas of its route have checked them. */
type Inputs = Pick<Parameters<Route['handle']>[0], 'params' | 'query' | 'body'>;

/** Writes the CSV of a route; undefined if it has none. */
function csvHandle({ csv }: Route): Handle | undefined {
  if (csv === undefined) return undefined;
  return async (call) => {
    const { response, countUntil } = call;
    const { readerWaitMs } = call.hooks;
    const pieces = csv(call);
    await streamed({ response, contentType: CSV_TYPE, readerWaitMs, countUntil }, async (write) => {
      for await (const piece of pieces) await write(piece);
    });
  };
}

/** By the parameter, or else by the header. */
function wantsCsv({ query, headers }: FastifyRequest): boolean {
  const { format } = query as { readonly format?: string };
  return format === undefined ? /\btext\/csv\b/.test(headers.accept ?? '') : format === 'csv';
}

/** Runs handlers, at most `MAX_REQUESTS` at a time and each for at most `answerMs`. */
function answerWithinLimits({ port, hooks, answerMs, onOverload }: HttpAppParts): Answer {
  let inFlight = 0;
  return async (route, request, response, handle) => {
    // Probes are exempt from the limit, so that load does not make the shard look dead.
    if (route.access !== 'open' && inFlight >= MAX_REQUESTS) {
      onOverload();
      throw new Refusal(503, `${MAX_REQUESTS} requests wait for an answer already.`, { 'retry-after': '1' });
    }
    const { params, query, body } = request as unknown as Inputs;
    const lastEventId = request.headers['last-event-id']?.toString();
    inFlight++;
    let end: Promise<unknown> = Promise.resolve();
    const countUntil = (later: Promise<unknown>): void => {
      end = later;
    };
    try {
      const call = { port, hooks, params, query, body, lastEventId, response, countUntil };
      return await within(answerMs, handle(call), route.access === 'order');
    } finally {
      void end.finally(() => inFlight--);
    }
  };
}

async function within<T>(ms: number, answer: Promise<T>, isOrder: boolean): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const effect = isOrder ? '; the order may or may not have taken effect' : '';
  const message = `The shard took longer than ${ms / 1000} s${effect}.`;
  const timer = setTimeout(() => reject(new Refusal(504, message)), ms);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Paths of the files of the login page. They are served to known callers too: a browser that opens a link on another site
 * sends no cookie (SameSite=Strict) and gets the login page, which then loads its files with the cookie.
 */
const LOGIN_FILES = '/login/';

/** Requests that have no route: they may be for a page. */
class PageServer {
  readonly #app: FastifyInstance;
  readonly #parts: HttpAppParts;
  /** Requests of callers without an identity, with the refusal that each gets unless there is a login page for it. */
  readonly #unknown = new WeakMap<FastifyRequest, Refusal>();

  constructor(app: FastifyInstance, parts: HttpAppParts) {
    this.#app = app;
    this.#parts = parts;
  }

  /** Refuses a request before its body is read. */
  check(request: FastifyRequest): void {
    const { pages, loginPages } = this.#parts;
    const { method } = request;
    const path = pathOf(request);
    const allow = METHODS.filter((other) => isRoute(this.#app, other, path)).join(', ');
    if (allow !== '') throw new Refusal(405, `There is only ${allow} for ${excerpt(path)}.`, { allow });
    const hasPages = pages !== undefined || loginPages !== undefined;
    if (!hasPages || (method !== 'GET' && method !== 'POST') || path.startsWith('/v1/'))
      throw nothingAt(path);
    this.#checkCaller(request, method === 'GET' ? 'read' : 'order');
    if (method === 'POST') checkJson(request.raw);
  }

  #checkCaller(request: FastifyRequest, access: Access): void {
    try {
      this.#parts.hooks.access.check(request.raw, access);
    } catch (error) {
      const isUnknown = error instanceof Refusal && error.status === 401 && access === 'read';
      if (!isUnknown || this.#parts.loginPages === undefined) throw error;
      this.#unknown.set(request, error);
    }
  }

  async serve(request: FastifyRequest, { raw: response }: FastifyReply): Promise<void> {
    const { pages, loginPages } = this.#parts;
    const refusal = this.#unknown.get(request);
    const isLogin = refusal !== undefined || pathOf(request).startsWith(LOGIN_FILES);
    const served = await (isLogin ? loginPages : pages)?.(request.raw, response);
    if (served !== true) throw refusal ?? nothingAt(pathOf(request));
  }
}

const METHODS = ['GET', 'POST', 'DELETE'] as const;

function isRoute(app: FastifyInstance, method: Route['method'], url: string): boolean {
  const found = app.findRoute({ method, url });
  return found !== null && !hasEmptyPart(found.params);
}

/** The router also matches `/v1/machines/`, with an empty id. */
function hasEmptyPart(params: unknown): boolean {
  return Object.values(params as object).includes('');
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0]!;
}

function nothingAt(path: string): Refusal {
  return new Refusal(404, `There is nothing at ${excerpt(path)}; docs/reference/api.md lists what there is.`);
}

function jsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function send(reply: FastifyReply, status: number, type: string, text: string): FastifyReply {
  // As bytes: fastify appends a charset to the JSON type of a string, and Node would copy a page of 900 kB to its head.
  return reply.code(status).header('content-type', type).send(Buffer.from(text));
}

function refuse(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  // The headers are sent, so the status cannot change: the client must not take a partial answer for a complete one.
  if (reply.raw.headersSent) {
    reply.raw.destroy();
    return reply.hijack();
  }
  const { status, code, message, headers } = refusalOf(error);
  // Otherwise the server would go on reading the rest of an oversized body.
  if (headers['connection'] === 'close') reply.raw.once('finish', () => request.raw.destroy());
  return send(reply.headers(headers), status, JSON_TYPE, jsonLine({ error: { code, message } }));
}
