import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type FakeScene,
  fakeScene,
  inventory,
  numbered,
  raise,
} from '../../../testing/support/fake-provider.ts';
import { MachineState } from '../../model/index.ts';
import { type ControlServer, serveControl } from './control.ts';

let control: ControlServer | undefined;
afterEach(() => control?.close());

async function controlled(): Promise<FakeScene> {
  const scene = await fakeScene({ machines: 128 });
  control = await serveControl(scene.fake, '127.0.0.1:0');
  return scene;
}

async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  return await new Promise<{ code: number | undefined; body: unknown }>((resolve, reject) => {
    const call = request(`http://${control!.address}${path}`, { method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve({ code: response.statusCode, body: JSON.parse(text) }));
    });
    call.on('error', reject);
    call.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  });
}

describe('the control port', () => {
  it('given settings, when patched, then the cloud and the response have them', async () => {
    const { fake } = await controlled();
    expect(await send('GET', '/settings')).toEqual({ code: 200, body: fake.cloud.settings });
    const patched = await send('PATCH', '/settings', { transport: { lostReply: 0.5 }, quotas: { gpu: 1 } });
    expect(patched).toMatchObject({ code: 200, body: { transport: { lostReply: 0.5 }, quotas: { gpu: 1 } } });
    expect(fake.cloud.settings.transport.lostReply).toBe(0.5);
  });

  it('given hosts, when a request selects them, then they are interrupted or killed, or their zone has an outage', async () => {
    const scene = await controlled();
    await raise(scene, numbered('general-spot', 'zone-a', 4), 'prod');
    const interrupted = await send('POST', '/interrupt', {
      offering: 'general-spot',
      cluster: 'prod',
      count: 2,
    });
    expect(interrupted).toMatchObject({
      code: 200,
      body: { machines: [expect.stringMatching(/^fake-general-spot-zone-a-/), expect.anything()] },
    });
    expect(await send('POST', '/kill', { machine: 'fake-metal-zone-a-0' })).toMatchObject({
      body: { machines: ['fake-metal-zone-a-0'] },
    });
    expect(await send('POST', '/outage', { zone: 'zone-a', seconds: 60 })).toMatchObject({ code: 200 });
    expect(await send('POST', '/stock-out', { offering: 'general/zone-b', seconds: 60 })).toMatchObject({
      code: 200,
    });
    await scene.clock.advance(0);
    expect((await inventory(scene, MachineState.Failed)).length).toBeGreaterThanOrEqual(5);
    await raise(scene, ['fake-general-zone-b-0']);
    expect(await send('GET', '/status')).toMatchObject({ body: { machines: 128, transport: { calls: 0 } } });
    expect(scene.events.map(({ what }) => what)).toContain('stock-out');
  });

  it.each([
    ['PATCH', '/settings', { transport: { lost: 1 } }, 'transport.lost'],
    ['PATCH', '/settings', '[1]', 'Expected an object, found a list'],
    ['PATCH', '/settings', '{', 'The request is not JSON'],
    [
      'POST',
      '/interrupt',
      { all: true },
      'all: Unknown field; known here: machine, zone, offering, cluster, count.',
    ],
    ['POST', '/interrupt', { zone: 1 }, 'zone: Expected text, found the number 1.'],
    ['POST', '/kill', { count: -1 }, 'count: Expected a number of at least 0, found -1.'],
    ['POST', '/outage', {}, 'zone: Expected text, found nothing.'],
    ['POST', '/outage', { zone: 'zone-x' }, 'There is no zone'],
    [
      'POST',
      '/outage',
      { zone: 'zone-a', second: 5 },
      'second: Unknown field; known here: zone, seconds. Did you mean seconds?',
    ],
    ['POST', '/outage', { zone: 'zone-a', seconds: 'long' }, 'seconds: Expected a number, found "long".'],
    ['POST', '/stock-out', { offering: 'golden' }, 'There is no offering'],
  ])('given %s %s %j, then it is refused', async (method, path, body, why) => {
    await controlled();
    expect(await send(method, path, body)).toMatchObject({
      code: 400,
      body: { error: expect.stringContaining(why) },
    });
  });

  it('given a body above the limit, then it is refused', async () => {
    await controlled();
    const endless = ' '.repeat(1024 * 1024 + 1);
    expect(await send('PATCH', '/settings', endless)).toMatchObject({ code: 400 });
  });

  it('given an unknown path or a Host header other than loopback, then it is refused', async () => {
    await controlled();
    expect(await send('GET', '/')).toMatchObject({
      code: 404,
      body: { error: expect.stringContaining('GET /settings') },
    });
    expect(await send('GET', '/settings', undefined, { host: 'rebound.example' })).toMatchObject({
      code: 403,
    });
  });

  it('given an address other than loopback, then the port is not opened', async () => {
    const { fake } = await fakeScene();
    await expect(serveControl(fake, '0.0.0.0:0')).rejects.toThrow('loopback');
  });
});
