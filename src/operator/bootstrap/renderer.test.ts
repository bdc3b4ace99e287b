// What machines start with: values of a request, tokens, retries.

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { MemoryKube } from '../../../testing/operator/memory-kube.ts';
import { bootstrapRequest } from '../../../testing/operator/memory-shard.ts';
import { Random } from '../../runtime/random.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { makeAuthority } from '../../wire/grpc/certificates.ts';
import { KubeError } from '../kube/client.ts';
import { caHashOf, clusterAccess } from './cluster-access.ts';
import { KUBEADM_TEMPLATE, PLAIN_TEMPLATE } from './default-template.ts';
import { kubeletLabels, taintsOf } from './node-identity.ts';
import { BootstrapRenderer, readBootstrapTemplate, renderExample } from './renderer.ts';
import { EXAMPLE_ACCESS } from './template-context.ts';
import { BootstrapTokens } from './tokens.ts';

const LEDGER = '/api/v1/namespaces/bigfleet-system/configmaps/bigfleet-operator-tokens';
const SECRETS = '/api/v1/namespaces/kube-system/secrets';

function scene(template = KUBEADM_TEMPLATE) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const kube = new MemoryKube();
  const problems: string[] = [];
  let issued = 0;
  const tokens = () =>
    new BootstrapTokens({
      client: kube,
      clock,
      options: {
        cluster: 'web',
        namespace: 'bigfleet-system',
        ttlMs: 3_600_000,
        groups: ['system:bootstrappers:bigfleet'],
      },
      onProblem: (what) => problems.push(what),
      characters: (count) => String(++issued).padStart(count, 'x'),
    });
  const minter = tokens();
  const renderer = new BootstrapRenderer({
    cluster: 'web',
    clock,
    random: new Random(1),
    template: readBootstrapTemplate(template, 'tokens'),
    taintRules: [
      {
        selector: { matchLabels: { team: 'ml' } },
        taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }],
      },
    ],
    access: () => Promise.resolve(EXAMPLE_ACCESS),
    tokenFor: (machine) => minter.tokenFor(machine),
    ttlSeconds: 0,
  });
  const secrets = () => [...kube.objects.keys()].filter((path) => path.startsWith(SECRETS));
  return { clock, kube, minter, tokens, renderer, problems, secrets };
}

describe('templates that are shipped', () => {
  it('given the one of kubeadm, then it is a join configuration with token, labels, taints and provider id', () => {
    const text = renderExample(readBootstrapTemplate(KUBEADM_TEMPLATE, 'tokens'), 'web');
    const [, yaml = ''] = /<<'BIGFLEET'\n([\s\S]*)BIGFLEET\n/.exec(text) ?? [];
    expect(parse(yaml)).toMatchObject({
      kind: 'JoinConfiguration',
      discovery: {
        bootstrapToken: { token: 'abcdef.0123456789abcdef', apiServerEndpoint: 'api.example:6443' },
      },
      nodeRegistration: {
        taints: [{ key: 'dedicated', value: 'batch', effect: 'NoSchedule' }],
        kubeletExtraArgs: [
          {
            name: 'node-labels',
            value:
              'kubernetes.io/arch=amd64,node.kubernetes.io/instance-type=m5.large,topology.kubernetes.io/zone=zone-a,bigfleet.lucy.sh/machine=machine-1',
          },
          { name: 'provider-id', value: 'example:///zone-a/i-0123456789' },
        ],
      },
    });
  });

  it('given the plain one, then it needs no token and is YAML', () => {
    const text = renderExample(readBootstrapTemplate(PLAIN_TEMPLATE, 'template'), 'web');
    expect(parse(text)).toMatchObject({ runcmd: [expect.arrayContaining(['/etc/bigfleet/join', 'web'])] });
  });

  it('given a token in mode template, then the template is refused', () => {
    expect(() => readBootstrapTemplate('{{ token }}', 'template')).toThrow(
      'line 1, column 4: there is no token here',
    );
  });
});

describe('bootstrap tokens', () => {
  it('given a request, then the Secret is one that the API server accepts as a token, and names the machine', async () => {
    const { renderer, kube } = scene();
    const answer = await renderer.answer(
      bootstrapRequest({ machineId: 'm-1', labels: new Map([['team', 'ml']]) }),
    );
    expect(answer).toMatchObject({ requestId: 'r1', error: '', ttlSeconds: 3600n });
    expect(Buffer.from(answer.userData).toString()).toContain('token: "xxxxx1.xxxxxxxxxxxxxxx2"');
    expect(Buffer.from(answer.userData).toString()).toContain('"gpu"');
    expect(kube.objects.get(`${SECRETS}/bootstrap-token-xxxxx1`)).toMatchObject({
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': 'xxxxx1',
        'token-secret': 'xxxxxxxxxxxxxxx2',
        expiration: '2026-01-01T01:00:00Z',
        'usage-bootstrap-authentication': 'true',
        'auth-extra-groups': 'system:bootstrappers:bigfleet',
        description: expect.stringContaining('m-1') as string,
      },
    });
    expect(JSON.stringify(kube.objects.get(LEDGER))).not.toContain('xxxxxxxxxxxxxxx2');
  });

  it('given the same machine again, then its token is reused while half of its time is left', async () => {
    const { renderer, secrets, clock } = scene();
    await Promise.all([1, 2, 3].map(() => renderer.answer(bootstrapRequest())));
    await clock.advance(1_800_000);
    await renderer.answer(bootstrapRequest());
    expect(secrets()).toHaveLength(1);
    await clock.advance(1_000);
    expect((await renderer.answer(bootstrapRequest())).ttlSeconds).toBe(3600n);
    expect(secrets()).toHaveLength(2);
  });

  it('given a node that joined or a token that expired, then its Secret and its entry are removed', async () => {
    const { renderer, minter, secrets, clock, kube } = scene();
    await minter.start();
    await renderer.answer(bootstrapRequest({ machineId: 'a' }));
    await renderer.answer(bootstrapRequest({ machineId: 'b' }));
    minter.joined('a');
    await clock.advance(0);
    expect(secrets()).toEqual([`${SECRETS}/bootstrap-token-xxxxx3`]);
    await clock.advance(3_660_000);
    expect(secrets()).toEqual([]);
    expect(kube.objects.get(LEDGER)).toMatchObject({ data: {} });
    expect(minter.size).toBe(0);
    minter.stop();
    expect(clock.waiting).toBe(0);
  });

  it('given a replica that leads again, then it issues no token that the leader in between has removed', async () => {
    const { renderer, minter, tokens, secrets, clock } = scene();
    await minter.start();
    const [first] = await Promise.all([
      minter.tokenFor('a'),
      renderer.answer(bootstrapRequest({ machineId: 'b' })),
    ]);
    minter.stop();
    expect(minter.size).toBe(0);
    const between = tokens();
    await between.start();
    between.joined('a');
    await clock.advance(0);
    between.stop();
    // The request arrives before the list has been read.
    void minter.start();
    const second = await minter.tokenFor('a');
    expect(second.text).not.toBe(first.text);
    expect(secrets()).toContain(`${SECRETS}/bootstrap-token-${second.text.split('.')[0]}`);
    // It knows the token of the other machine from the list.
    minter.joined('b');
    await clock.advance(0);
    expect(secrets()).toHaveLength(1);
    minter.stop();
  });

  it('given a term that ends while a token is made, then the next term does not use it', async () => {
    const { minter } = scene();
    await minter.start();
    const pending = minter.tokenFor('a').catch((error: unknown) => error);
    await Promise.resolve();
    await Promise.resolve();
    minter.stop();
    await minter.start();
    expect(await pending).toBeInstanceOf(KubeError);
    expect((await minter.tokenFor('a')).text).toBeTruthy();
  });

  it('given a restarted operator, then it removes tokens that the earlier one left', async () => {
    const { renderer, tokens, secrets, clock } = scene();
    await renderer.answer(bootstrapRequest({ machineId: 'a' }));
    await renderer.answer(bootstrapRequest({ machineId: 'b' }));
    const second = tokens();
    await second.start();
    second.joined('a');
    await second.tokenFor('b');
    await clock.advance(0);
    expect(secrets()).toEqual([`${SECRETS}/bootstrap-token-xxxxx5`]);
    second.stop();
  });

  it('given an id that another token has, then that token stays and another id is used', async () => {
    const { renderer, kube, secrets, clock, minter } = scene();
    await kube.create(SECRETS, { metadata: { name: 'bootstrap-token-xxxxx1' }, owner: 'an administrator' });
    const answer = renderer.answer(bootstrapRequest());
    await clock.advance(1_000);
    expect((await answer).error).toBe('');
    minter.joined('m-1');
    await clock.advance(0);
    expect(secrets()).toEqual([`${SECRETS}/bootstrap-token-xxxxx1`]);
  });

  it('given a Secret that cannot be deleted, then it is tried again after its expiry', async () => {
    const { renderer, kube, minter, secrets, clock, problems } = scene();
    await minter.start();
    await renderer.answer(bootstrapRequest());
    kube.before = (verb) => {
      if (verb === 'delete') throw new KubeError('down', { status: 503 });
    };
    minter.joined('m-1');
    await clock.advance(0);
    expect(problems).toHaveLength(1);
    kube.before = () => {};
    await clock.advance(3_660_000);
    expect(secrets()).toEqual([]);
    minter.stop();
  });
});

describe('failures', () => {
  it('given an API server that comes back, then the request is answered; given one that does not, then there is no answer', async () => {
    const { renderer, kube, clock } = scene();
    let isDown = true;
    kube.before = () => {
      if (isDown) throw new KubeError('connection refused', { status: 0 });
    };
    const answer = renderer.answer(bootstrapRequest());
    await clock.advance(5_000);
    isDown = false;
    await clock.advance(6_000);
    expect((await answer).error).toBe('');
    isDown = true;
    const none = renderer.answer(bootstrapRequest({ machineId: 'other' }));
    const outcome = expect(none).rejects.toThrow('connection refused');
    await clock.advance(25_000);
    await outcome;
  });

  it('given no right to create Secrets, then the answer is an error that says so, at once', async () => {
    const { renderer, kube } = scene();
    kube.before = (_verb, path) => {
      if (path === SECRETS) throw new KubeError('secrets is forbidden', { status: 403, reason: 'Forbidden' });
    };
    const answer = await renderer.answer(bootstrapRequest());
    expect(answer.error).toContain('secrets is forbidden');
    expect(answer.userData).toHaveLength(0);
  });
});

describe('labels and taints of nodes', () => {
  it('given labels that a kubelet may not set or that are not valid, then they are left out', () => {
    const labels = new Map([
      ['team', 'ml'],
      ['node-role.kubernetes.io/worker', ''],
      ['node.kubernetes.io/pool', 'a'],
      ['kubernetes.io/arch', 'arm64'],
      ['x.k8s.io/y', 'z'],
      ['bad key', 'x'],
      ['long', 'x'.repeat(64)],
      ['comma', 'a,b'],
    ]);
    expect(kubeletLabels(labels, 'm-1')).toBe(
      'team=ml,node.kubernetes.io/pool=a,kubernetes.io/arch=arm64,bigfleet.lucy.sh/machine=m-1',
    );
    expect(kubeletLabels(new Map(), 'not/a/label')).toBe('');
  });

  it('given rules, then taints of all matching ones, without repetitions and unknown effects', () => {
    const rule = (selector: object, key: string, effect = 'NoSchedule') => ({
      selector,
      taints: [{ key, value: '', effect }],
    });
    const found = taintsOf([{ key: 'a', value: '1', effect: 'NoSchedule' }], new Map([['gpu', 'yes']]), [
      rule({}, 'a'),
      rule({ matchExpressions: [{ key: 'gpu', operator: 'Exists' }] }, 'b'),
      rule({ matchExpressions: [{ key: 'gpu', operator: 'NotIn', values: ['yes'] }] }, 'c'),
      rule({}, 'd', 'Never'),
      rule({ matchExpressions: [{ key: 'gpu', operator: 'Gt' }] }, 'e'),
    ]);
    expect(found.map(({ key, value }) => `${key}${value}`)).toEqual(['a1', 'b']);
  });
});

describe('how nodes reach the API server', () => {
  const ca = makeAuthority({
    name: 'ca',
    notBefore: new Date('2020-01-01'),
    notAfter: new Date('2060-01-01'),
  }).certificate;
  const own = { server: 'https://10.96.0.1:443', caBundle: ca, isInCluster: true };
  const none = { endpoint: undefined, caBundle: undefined };

  it('given settings, then these', async () => {
    const access = await clusterAccess({ endpoint: 'api:6443', caBundle: ca, own }, new MemoryKube());
    expect(access).toEqual({ endpoint: 'api:6443', caBundle: ca, caHash: caHashOf(ca) });
    expect(access.caHash).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('given cluster-info of kubeadm, then its server and authority', async () => {
    const kube = new MemoryKube();
    const cluster = {
      server: 'https://api.example:6443',
      'certificate-authority-data': Buffer.from(ca).toString('base64'),
    };
    await kube.create('/api/v1/namespaces/kube-public/configmaps', {
      metadata: { name: 'cluster-info' },
      data: { kubeconfig: JSON.stringify({ clusters: [{ cluster }] }) },
    });
    expect(await clusterAccess({ ...none, own: { ...own, caBundle: undefined } }, kube)).toMatchObject({
      endpoint: 'api.example:6443',
      caBundle: ca,
    });
  });

  it('given only the address of a service, then the setting is asked for; given a kubeconfig, then its server', async () => {
    await expect(clusterAccess({ ...none, own }, new MemoryKube())).rejects.toThrow('set bootstrap.endpoint');
    const outside = { ...own, server: 'https://api.example', isInCluster: false };
    expect((await clusterAccess({ ...none, own: outside }, new MemoryKube())).endpoint).toBe(
      'api.example:443',
    );
  });
});
