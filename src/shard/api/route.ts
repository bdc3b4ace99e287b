// The declaration of a route. One entry has everything about it: what it accepts, who may call it, what it answers, and its
// text in the documentation. http-app.ts serves the entries, openapi.ts documents them.

import type { ServerResponse } from 'node:http';
import * as z from 'zod';
import type { View } from '../views/schema.ts';
import type { PastCyclesPort, ShardPort, WhatIfPort } from '../views.ts';
import type { ApiAccess } from './access.ts';
import type { Access } from './guard.ts';

export interface RouteHooks {
  /** The text of all metrics of the process. */
  readonly metrics: () => string | Promise<string>;
  /** Why the shard is not ready; null if it is. */
  readonly unready: () => string | null | Promise<string | null>;
  readonly access: ApiAccess;
  /** null: what-if questions are not answered. */
  readonly whatIf: WhatIfPort | null;
  /** null: the shard keeps no journal. */
  readonly cycles: PastCyclesPort | null;
  /** Longest time that an answer in pieces waits for its reader, in milliseconds, all waits together. */
  readonly readerWaitMs: number;
  /** Replays past events since a time or after an event id, if one is given, and then sends new ones. */
  readonly subscribe: (reader: ServerResponse, from: EventsFrom, wanted: EventsWanted) => Promise<void>;
}

/** The part of the events that a reader wants; by default all of them. */
export interface EventsWanted {
  readonly kinds?: ReadonlySet<string> | undefined;
  /** Least time between two events of cycles. */
  readonly paceMs?: number | undefined;
}

export interface EventsFrom {
  readonly sinceMs?: number | undefined;
  readonly afterId?: string | undefined;
}

/** A request that has passed the checks of its route. */
interface Call<P, Q, B> {
  readonly port: ShardPort;
  readonly hooks: RouteHooks;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** The Last-Event-ID header, which browsers send when they reconnect to an event stream. */
  readonly lastEventId: string | undefined;
  readonly response: ServerResponse;
  /** Called by an answer that goes on after its handler; see `StreamedParts`. */
  readonly countUntil: (end: Promise<unknown>) => void;
}

/** The answer of a route that is not JSON. */
export interface TextAnswer {
  readonly contentType: string;
  readonly description: string;
  /** Statuses other than 200, with their meaning. */
  readonly statuses?: Readonly<Record<number, string>>;
}

/** What the handler of a `TextAnswer` route returns; null if it writes the response itself. */
export type TextReply = { readonly status?: number; readonly text: string } | null;

type AnswerOf = z.ZodType | TextAnswer;
type Reply<A extends AnswerOf> = A extends z.ZodType ? View<A> : TextReply;

interface RouteEntry<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodObject,
  A extends AnswerOf,
> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** A part in braces is a parameter: one percent-encoded segment. */
  readonly path: string;
  readonly access: Access;
  /** One line, for the table of routes. */
  readonly summary: string;
  /** Names the parameters of the path. */
  readonly params?: P;
  /** By default no parameter is accepted. */
  readonly query?: Q;
  /** Required for POST: the JSON object that is accepted. */
  readonly body?: B;
  readonly answer: A;
  /** The answer as CSV in pieces, for callers that accept it or send `format=csv`. */
  readonly csv?: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => AsyncIterable<string>;
  readonly handle: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Reply<A>>;
}

export type Route = RouteEntry<z.ZodObject, z.ZodObject, z.ZodObject, AnswerOf>;

type None = z.ZodObject<Record<never, never>>;

/** Checks the handler of an entry against its schemas; the table of routes has the entries without these types. */
export function route<
  A extends AnswerOf,
  P extends z.ZodObject = None,
  Q extends z.ZodObject = None,
  B extends z.ZodObject = None,
>(entry: RouteEntry<P, Q, B, A>): Route {
  return entry as unknown as Route;
}

export function isTextAnswer(answer: AnswerOf): answer is TextAnswer {
  return !(answer instanceof z.ZodType);
}
