// Who may do what over TLS: the same certificates for the API over HTTP and for ShardRead over gRPC.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Server } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeShard } from '../../../testing/support/fake-shard.ts';
import {
  type InspectNeedsResponse,
  ShardReadDefinition,
} from '../../wire/gen/bigfleet/v1alpha1/shardread.ts';
import { issueCertificate, makeAuthority } from '../../wire/grpc/certificates.ts';
import {
  bindService,
  clientCredentials,
  connect,
  serverCredentials,
  status,
  statusOf,
  type TlsFiles,
} from '../../wire/index.ts';
import { ROUTES } from './routes.ts';
import { serveApi } from './serve.ts';
import { addShardRead, type Inspect } from './shard-read-grpc.ts';

const VALID = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
const authority = makeAuthority({ name: 'ours', ...VALID });
const stranger = makeAuthority({ name: 'theirs', ...VALID });

let folder: string;
let made = 0;
const cleanups: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bigfleet-api-'));
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
  rmSync(folder, { recursive: true });
});

function filesOf(uri: string, issuer = authority): TlsFiles {
  const subject = { name: 'x', uris: [uri], ipAddresses: ['127.0.0.1'], ...VALID };
  const { certificate, key } = issueCertificate(issuer, subject);
  const pathOf = (name: string, content: string) => {
    const path = join(folder, `${made++}-${name}`);
    writeFileSync(path, content);
    return path;
  };
  return {
    cert: pathOf('cert', certificate),
    key: pathOf('key', key),
    ca: pathOf('ca', authority.certificate),
  };
}

describe('the API over TLS', () => {
  const ORDER = JSON.stringify({ who: 'a', why: 'w' });

  async function served() {
    const shard = new FakeShard();
    const server = await serveApi(shard, '127.0.0.1:0', { tls: filesOf('bigfleet://shard/shard-0') });
    cleanups.push(() => server.close());
    const statusFor = (files: TlsFiles | null, method: string, path: string, body?: string) =>
      new Promise<number>((resolve, reject) => {
        const own = files === null ? {} : { cert: readFileSync(files.cert), key: readFileSync(files.key) };
        const headers = { 'content-type': 'application/json' };
        const options = { method, headers, ca: authority.certificate, agent: false, ...own };
        const request = httpsRequest(`${server.url}${path}`, options, (response) => {
          void text(response).then(() => resolve(response.statusCode ?? 0));
        });
        request.on('error', reject);
        request.end(body);
      });
    return { shard, statusFor };
  }

  it('given identities of all kinds, then an admin may do everything, a reader may read, and others may only probe', async () => {
    const { shard, statusFor } = await served();
    const seen: Record<string, readonly number[]> = {};
    const callers = {
      admin: filesOf('bigfleet://admin'),
      readonly: filesOf('bigfleet://readonly'),
      cluster: filesOf('bigfleet://cluster/ml'),
      forged: filesOf('bigfleet://admin', stranger),
      none: null,
    };
    for (const [name, files] of Object.entries(callers)) {
      seen[name] = [
        await statusFor(files, 'GET', '/healthz'),
        await statusFor(files, 'GET', '/v1/status'),
        await statusFor(files, 'GET', '/metrics'),
        await statusFor(files, 'POST', '/v1/freezes', ORDER),
      ];
    }
    expect(seen).toEqual({
      admin: [200, 200, 200, 200],
      readonly: [200, 200, 200, 403],
      cluster: [200, 403, 403, 403],
      forged: [200, 401, 401, 401],
      none: [200, 401, 401, 401],
    });
    expect(shard.orders).toHaveLength(1);
  });

  it('given a caller that may not, then every route refuses it', async () => {
    const { shard, statusFor } = await served();
    const reader = filesOf('bigfleet://readonly');
    for (const { method, path, access } of ROUTES) {
      if (access === 'open') continue;
      const body = method === 'POST' ? '{}' : undefined;
      expect([path, await statusFor(null, method, path, body)]).toEqual([path, 401]);
      if (access === 'order')
        expect([path, await statusFor(reader, method, path, body)]).toEqual([path, 403]);
    }
    expect(shard.orders).toEqual([]);
    expect(shard.asked).toEqual([]);
  });
});

describe('ShardRead.InspectNeeds', () => {
  const service = bindService(ShardReadDefinition);

  async function served(inspect: Inspect, tls: TlsFiles | null = null) {
    const server = new Server();
    addShardRead(server, inspect, { hasTls: tls !== null });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', serverCredentials('127.0.0.1:0', { tls }), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    cleanups.push(() => server.forceShutdown());
    return async (files: TlsFiles | null, clusterId = ''): Promise<readonly InspectNeedsResponse[]> => {
      const address = `127.0.0.1:${port}`;
      const client = connect(service, address, clientCredentials(address, { tls: files }));
      cleanups.push(() => client.close());
      const frames: InspectNeedsResponse[] = [];
      for await (const frame of client.rpc.inspectNeeds({ clusterId, limit: 0 })) frames.push(frame);
      return frames;
    };
  }

  async function* header(totalNeeds: number): AsyncGenerator<InspectNeedsResponse> {
    yield { frame: { $case: 'header', value: { cycle: 1n, computedAtUnixNanos: 2n, totalNeeds } } };
  }

  it('given a request, then the caller receives the frames of the shard', async () => {
    const ask = await served(({ clusterId }) => header(clusterId.length));
    expect(await ask(null, 'four')).toMatchObject([{ frame: { value: { cycle: 1n, totalNeeds: 4 } } }]);
  });

  it('given TLS, then admins and readers are answered and others are denied', async () => {
    let asked = 0;
    const ask = await served(() => header(++asked), filesOf('bigfleet://shard/shard-0'));
    expect(await ask(filesOf('bigfleet://admin'))).toHaveLength(1);
    expect(await ask(filesOf('bigfleet://readonly'))).toHaveLength(1);
    for (const uri of ['bigfleet://cluster/ml', 'bigfleet://shard/shard-0']) {
      const error: unknown = await ask(filesOf(uri)).catch((thrown: unknown) => thrown);
      expect(statusOf(error)).toBe(status.PERMISSION_DENIED);
    }
    expect(asked).toBe(2);
  });
});
