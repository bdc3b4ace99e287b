// Routes about the caller: the login of browsers, and who the caller is. Part of the table in routes.ts.

import * as z from 'zod';
import { view } from '../views/schema.ts';
import type { Caller } from './access.ts';
import { type Route, route } from './route.ts';

/** Characters; tokens are much shorter. */
const MAX_TOKEN = 1_000;

const CallerView = view('Caller', 'The caller as the shard knows it.', {
  name: z.string().nullable().describe('Null: unknown, on loopback without TLS.'),
  role: z.enum(['view', 'operate']).describe('`operate` may also order.'),
});

const LogoutAnswer = view('LogoutAnswer', 'The login has ended.', {
  message: z.string().describe('For people.'),
});

export const LOGIN_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/whoami',
    access: 'read',
    summary: 'Who the caller is, and its role.',
    answer: CallerView,
    handle: async ({ hooks, response }) => viewOf(hooks.access.check(response.req, 'read')),
  }),
  route({
    method: 'POST',
    path: '/v1/login',
    access: 'open',
    summary: 'Exchanges a token for a cookie that is valid for 12 h, for browsers.',
    body: z.strictObject({ token: z.string().min(1).max(MAX_TOKEN).describe('A token of `apiTokensFile`.') }),
    answer: CallerView,
    handle: async ({ hooks, body: { token }, response }) => viewOf(hooks.access.login(token, response)),
  }),
  route({
    method: 'POST',
    path: '/v1/logout',
    access: 'open',
    summary: 'Ends the login of the cookie that is sent.',
    body: z.strictObject({}),
    answer: LogoutAnswer,
    handle: async ({ hooks, response }) => {
      hooks.access.logout(response);
      return { message: 'Logged out.' };
    },
  }),
];

function viewOf(caller: Caller | null) {
  return caller === null
    ? { name: null, role: 'operate' as const }
    : { name: caller.name, role: caller.role };
}
