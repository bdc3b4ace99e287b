// The only listener of the operator: probes and metrics over HTTP. Read-only, without authentication, and bounded in
// connections and time, since every pod of the cluster can reach it.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { BigFleetError } from '../../model/index.ts';
import { EXPOSITION_TYPE } from '../../runtime/exposition.ts';

export interface HttpRoutes {
  readonly metrics: () => string;
  /** Why the operator is not ready; null if it is. */
  readonly unready: () => string | null;
}

export interface HttpListener {
  /** HOST:PORT, with the port actually bound. */
  readonly address: string;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 64;
const TIMEOUT_MS = 10_000;
const PLAIN = 'text/plain; charset=utf-8';

/** Rejects if the address cannot be bound. */
export async function listen(address: string, routes: HttpRoutes): Promise<HttpListener> {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[|\]$/g, '');
  const server = createServer(
    { requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS },
    (request, response) => {
      answer(request, response, routes);
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.keepAliveTimeout = TIMEOUT_MS;
  const port = await bound(server, Number(address.slice(at + 1)), host === '' ? undefined : host, address);
  return {
    address: `${address.slice(0, at)}:${port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function bound(server: Server, port: number, host: string | undefined, shown: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new BigFleetError('BF_LISTEN_FAILED', `${shown}: ${cause.message}.`, { cause }));
    });
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      const found = server.address();
      resolve(typeof found === 'object' && found !== null ? found.port : port);
    });
  });
}

function answer({ method, url = '' }: IncomingMessage, response: ServerResponse, routes: HttpRoutes): void {
  const send = (status: number, text: string, type = PLAIN): void => {
    response.writeHead(status, {
      'content-type': type,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    response.end(method === 'HEAD' ? undefined : text);
  };
  if (method !== 'GET' && method !== 'HEAD') {
    send(405, 'Only GET.\n');
    return;
  }
  switch (url.replace(/\?.*$/s, '')) {
    case '/healthz':
      send(200, 'ok\n');
      break;
    case '/readyz': {
      const why = routes.unready();
      send(why === null ? 200 : 503, `${why ?? 'ok'}\n`);
      break;
    }
    case '/metrics':
      send(200, routes.metrics(), EXPOSITION_TYPE);
      break;
    default:
      send(404, 'There are /healthz, /readyz and /metrics.\n');
  }
}
