// A proxy in front of an API server, fake or real, that delays requests or refuses them with 429. One operator uses it while
// kubelets and the test use the API server itself, so that they are not slowed down. Speaks plain HTTP on loopback.
//
//   const proxy = await ApiProxy.start(plane);
//   const path = plane.kubeconfig('operator', proxy.url);
//   proxy.delayMs = 1_500;
//   proxy.refuses = ({ path }) => path === '/api/v1/pods';

import { once } from 'node:events';
import {
  createServer,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { ApiError } from './api-errors.ts';
import type { ControlPlane } from './control-plane.ts';

const RETRY_AFTER_SECONDS = 1;

export interface ProxiedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
}

export class ApiProxy {
  /** Before each request is passed on. */
  delayMs = 0;
  /** Which requests get 429. */
  refuses: (request: ProxiedRequest) => boolean = () => false;
  readonly #target: URL;
  readonly #ca: string | null;
  readonly #agent: HttpAgent;
  readonly #server: Server;

  private constructor(plane: ControlPlane) {
    const { server, ca } = plane.connection();
    this.#target = new URL(server);
    this.#ca = ca?.read() ?? null;
    this.#agent =
      this.#ca === null ? new HttpAgent({ keepAlive: true }) : new HttpsAgent({ keepAlive: true });
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  static async start(plane: ControlPlane): Promise<ApiProxy> {
    const proxy = new ApiProxy(plane);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Breaks all connections, so that watches begin again. */
  breakConnections(): void {
    this.#server.closeAllConnections();
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
    this.#agent.destroy();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Either end may close its connection at any time, and the other one must see that.
    request.on('error', () => {});
    response.on('error', () => {});
    const { method = 'GET', url = '/', headers } = request;
    const { pathname } = new URL(url, this.#target);
    if (this.delayMs > 0) await wait(this.delayMs);
    if (this.refuses({ method, path: pathname })) {
      request.resume();
      refuse(response);
      return;
    }
    const options = { method, headers: { ...headers, host: this.#target.host }, agent: this.#agent };
    const send = this.#ca === null ? httpRequest : httpsRequest;
    const tls = this.#ca === null ? {} : { ca: this.#ca };
    const passed = send(new URL(url, this.#target), { ...options, ...tls }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      // A watch without an event has headers only.
      response.flushHeaders();
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  }
}

function refuse(response: ServerResponse): void {
  const { status } = new ApiError(429, 'TooManyRequests', 'injected by the test');
  response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
  response.writeHead(429, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(status));
}
