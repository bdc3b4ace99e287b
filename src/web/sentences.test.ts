import { describe, expect, it } from 'vitest';
import type { Action, ActionKind, ActionOutcome, ActionReason, Planned, Status } from './feed.ts';
import {
  actionText,
  frozenClusterText,
  headline,
  heldBackLine,
  heldBackText,
  logText,
  missingText,
  plannedLine,
  plannedText,
  providerText,
} from './sentences.ts';

const ACTION: Action = {
  id: 'a-1',
  kind: 'Provision',
  machine: 'm-12',
  provider: 'cloud-b',
  cluster: 'cluster-3',
  need: { id: 'cluster-5/0123456789', cluster: 'cluster-5', priority: 900 },
  reason: 'phase1.speculative',
  startedMs: 0,
  endedMs: null,
  outcome: null,
  message: '',
};

const STATUS: Status = {
  shard: 'shard-0',
  epoch: 1,
  startedMs: 0,
  nowMs: 1000,
  phase: 'running',
  dryRun: false,
  cycle: { number: 1, durationMs: 1, unmet: 0, admitted: {} },
  machines: 10,
  machinesByState: { CONFIGURED: 10 },
  costPerHour: 1,
  cost: { perHour: 1, byPart: { serving: 1 } },
  ownedCost: null,
  needs: 1200,
  clusters: 6,
  sessions: 6,
  shortfalls: 0,
  escalated: 0,
  freezes: 0,
  hardware: [],
  providers: [],
};

const PROVIDER: Status['providers'][number] = {
  name: 'cloud-b',
  breaker: 'closed',
  denial: '',
  machines: 5,
  waiting: 0,
  hasListed: true,
  lastError: '',
  heldLosses: 0,
  health: { state: 'fine', machines: 10, failing: 0, zones: [] },
};

describe('sentences on actions', () => {
  it.each<[Partial<Action>, string]>([
    [
      { outcome: 'success', capacityType: 'SPOT', zone: 'zone-a' },
      'bought m-12 (spot, zone-a) for cluster-3: nothing idle fits',
    ],
    [{ capacityType: 'ON_DEMAND' }, 'ordered m-12 (on-demand) for cluster-3: nothing idle fits'],
    [{ kind: 'Bootstrap', reason: 'phase1.idle' }, 'binding m-12 to cluster-3: idle, and fits'],
    [
      { kind: 'Preempt', reason: 'phase2.inversion', outcome: 'success' },
      'preempted m-12 from cluster-3 for cluster-5/0123456789: priority 900 goes before a lower one',
    ],
    [
      { kind: 'Preempt', reason: 'phase2.excess' },
      'preempting m-12 from cluster-3 for cluster-5/0123456789: cluster-3 has more than it needs, and cluster-5/0123456789 goes without',
    ],
    [
      { kind: 'Reclaim', reason: 'phase3.excess' },
      'reclaiming m-12 from cluster-3: cluster-3 has more than it needs',
    ],
    [
      {
        ...{ kind: 'Reclaim', reason: 'phase3.excess' },
        leaving: { cause: 'replaced', domain: null, goesTo: null },
      },
      'reclaiming m-12 from cluster-3: cheaper machines replace it',
    ],
    [
      { kind: 'Delete', reason: 'phase3.release', cluster: '', outcome: 'success' },
      'released m-12 to cloud-b: idle for a while, and no row needs it',
    ],
    [
      { outcome: 'provider_error', message: 'no capacity' },
      'failed to buy m-12 for cluster-3: its provider refused (no capacity)',
    ],
    [
      { outcome: 'stock_out', message: 'no big in za' },
      'failed to buy m-12 for cluster-3: its provider has none left (no big in za)',
    ],
    [{ outcome: 'transient' }, 'failed to buy m-12 for cluster-3: its provider is busy or unreachable'],
    [{ outcome: 'no_session' }, 'failed to buy m-12 for cluster-3: its cluster is not connected'],
  ])('%o', (change, text) => {
    expect(actionText({ ...ACTION, ...change }).text).toBe(text);
  });

  it('given any kind, reason and outcome, then there is a sentence', () => {
    const kinds: ActionKind[] = ['Bootstrap', 'Provision', 'Preempt', 'Reclaim', 'Delete'];
    const reasons: ActionReason[] = [
      'phase1.idle',
      'phase1.speculative',
      'phase2.inversion',
      'phase2.excess',
      'phase3.excess',
      'phase3.release',
    ];
    const outcomes: (ActionOutcome | null)[] = [
      null,
      'success',
      'stale_state',
      'transition_error',
      'blob_error',
    ];
    for (const kind of kinds) {
      for (const reason of reasons) {
        for (const outcome of outcomes) {
          const { text } = actionText({ ...ACTION, kind, reason, outcome, need: null });
          expect(text).toMatch(/^[a-z ]+ m-12 (to|for|from) [a-z0-9-]+: [a-z]/);
          expect(text).not.toMatch(/undefined|null|phase|_/);
        }
      }
    }
  });

  it('given a name that only a newer shard knows, then it is shown unchanged', () => {
    const action = { ...ACTION, kind: 'Polish' as ActionKind, reason: 'phase9.shine' as ActionReason };
    expect(actionText(action).text).toBe('Polish m-12: phase9.shine');
  });
});

describe('the headline', () => {
  const say = (change: Partial<Status>, why?: string, isFleetFrozen = false) =>
    headline(
      { ...STATUS, ...change },
      why === undefined ? [] : [{ id: 'ml/0123456789', why }],
      isFleetFrozen,
    );
  const cycle = { number: 1, durationMs: 1, unmet: 5, admitted: {} };
  const frozen = {
    ...{ why: 'frozen', total: 16, needs: 7, kinds: { Provision: 12, Preempt: 1, Bootstrap: 3 } },
    ...{ buysPerHour: 3.72, releasesPerHour: 0 },
  };
  const dry = {
    ...{ why: 'dry-run', total: 1202, needs: 0, kinds: { Reclaim: 1200, Delete: 2 } },
    ...{ buysPerHour: 0, releasesPerHour: 0.5 },
  };

  it.each<[string, string]>([
    [headline(null, [], false), 'Starting: waiting for the first report of the shard.'],
    [
      say({ phase: 'starting', providers: [PROVIDER, PROVIDER] }),
      'Starting: reading what 2 providers can offer, then deciding.',
    ],
    [say({ phase: 'fenced' }), 'Stopped: a newer shard of this name has taken over.'],
    [say({ cycle: null }), 'Started: about to decide for the first time.'],
    [say({}), 'All 1,200 Needs of 6 clusters are met; nothing to do.'],
    [
      say({ cycle: { ...cycle, unmet: 0, admitted: { Bootstrap: 110, Provision: 135 } } }),
      'All 1,200 Needs of 6 clusters are met; 245 actions just begun.',
    ],
    [
      say({
        hardware: [
          {
            ...{ kind: 'general', needs: 1200, unmetNeeds: 0 },
            resources: { cpu: { wanted: 4, served: 0, coming: 4, unmet: 0, offered: 0, used: 0 } },
          },
        ],
        machinesByState: { CREATING: 2 },
      }),
      'All 1,200 Needs of 6 clusters are met or about to be; 2 machines are starting.',
    ],
    [say({ needs: 0 }), 'No cluster wants anything yet.'],
    [
      say({ cycle, machinesByState: { CREATING: 12, CONFIGURING: 1 } }),
      '5 of 1,200 Needs are not met yet; 1 machine is joining, 12 are starting.',
    ],
    [
      say({ machinesByState: { Draining: 3 } }),
      'All 1,200 Needs of 6 clusters are met; 3 machines are leaving.',
    ],
    [
      say({ cycle: { ...cycle, unmet: 1 } }, 'no machine in the catalogue meets its requirements'),
      '1 of 1,200 Needs is not met yet: no machine in the catalogue meets its requirements.',
    ],
    [
      say({ cycle }, 'no machine in the catalogue meets its requirements'),
      '5 of 1,200 Needs are not met yet; the most urgent is ml/0123456789: no machine in the catalogue meets its requirements.',
    ],
    [
      say({ providers: [{ ...PROVIDER, breaker: 'open' }] }),
      'cloud-b does not answer. All 1,200 Needs of 6 clusters are met; nothing to do.',
    ],
    [
      say({}, undefined, true),
      'Frozen: nothing would be done now. All 1,200 Needs of 6 clusters are met; nothing to do.',
    ],
    [
      say({ cycle: { ...cycle, heldBack: [frozen] } }, undefined, true),
      'Frozen: would bind 3, buy 12 and preempt 1 (+$3.72/h) for 7 Needs. 5 of 1,200 Needs would not be met even then.',
    ],
    [
      say({ cycle: { ...cycle, unmet: 0, heldBack: [frozen] } }, undefined, true),
      'Frozen: would bind 3, buy 12 and preempt 1 (+$3.72/h) for 7 Needs. All other Needs are met.',
    ],
    [
      say({ cycle: { ...cycle, heldBack: [frozen] } }),
      'Frozen in part: would bind 3, buy 12 and preempt 1 (+$3.72/h) for 7 Needs. 5 of 1,200 Needs would not be met even then.',
    ],
    [
      say({ dryRun: true }),
      'Dry run: nothing would be done now. All 1,200 Needs of 6 clusters are met; nothing to do.',
    ],
    [
      say({ dryRun: true, cycle: { ...cycle, unmet: 0, heldBack: [dry] } }),
      'Dry run: would reclaim 1,200 and release 2 (-$0.50/h). All 1,200 Needs of 6 clusters are met; nothing to do.',
    ],
    [
      say({ cycle: { ...cycle, heldBack: [{ ...dry, why: 'capped' }] } }),
      '5 of 1,200 Needs are not met yet.',
    ],
  ])('%s', (said, wanted) => {
    expect(said).toBe(wanted);
  });
});

describe('what would be done', () => {
  const freeze = { id: 'fleet', who: 'ann@desk', why: 'budget' };
  const planned: Planned = {
    ...{ kind: 'Provision', machine: 'm-12', provider: 'cloud-b', cluster: 'ml', zone: 'zone-a' },
    ...{ need: { id: 'ml/0123456789', cluster: 'ml', priority: 100 }, reason: 'phase1.speculative' },
    ...{ why: 'frozen', freeze, capacityType: 'ON_DEMAND', pricePerHour: 0.31 },
  };

  it.each<[string, string]>([
    [
      plannedLine(planned),
      'would buy m-12 (on-demand, zone-a) for ml: nothing idle fits (Need ml/0123456789, priority 100, +$0.31/h); frozen by ann@desk, because: budget',
    ],
    [
      plannedLine({
        ...planned,
        kind: 'Delete',
        reason: 'phase3.release',
        need: null,
        freeze: null,
        why: 'dry-run',
      }),
      'would release m-12 (on-demand, zone-a) to cloud-b: idle for a while, and no row needs it (-$0.31/h); this is a dry run',
    ],
    [
      plannedText({ ...planned, kind: 'Polish' as ActionKind, reason: 'phase9.shine' as ActionReason }),
      'Polish m-12 (on-demand, zone-a): phase9.shine',
    ],
    [
      heldBackLine({
        why: 'capped',
        total: 7,
        needs: 0,
        kinds: { Reclaim: 7 },
        buysPerHour: 0,
        releasesPerHour: 0,
      }),
      'would reclaim 7, held back: its cluster has just lost as many machines as it may',
    ],
    [
      frozenClusterText({ cluster: 'ml', unmet: 1 }),
      'ml is frozen and claims no machines, so none is planned for it; 1 Need of it is not met',
    ],
  ])('%s', (said, wanted) => {
    expect(said).toBe(wanted);
  });
});

describe('other texts', () => {
  it('given missing resources, then the text has rounded amounts with units', () => {
    const missing = { cpu: '53750m', memory: '57713623040', 'nvidia.com/gpu': '8', disk: 'some' };
    expect(missingText({ missing })).toBe('54 cores, 54 GiB memory, 8 gpu, some disk');
  });

  it('given a Need that is set aside, then the missing amount is unknown', () => {
    expect(missingText({ missing: {} })).toBe('an unknown amount');
    const fields = { need: 'c1/abc', cycles: 6, missing: {}, why: 'its size is not known' };
    expect(logText('need-short', fields)).toBe(
      'c1/abc has gone without an unknown amount for 6 cycles: its size is not known',
    );
  });

  it('given a log line, then it keeps the stable name of its event', () => {
    expect(logText('list-held', { provider: 'a', lost: 12 })).toBe('list-held provider=a lost=12');
  });

  it('given need-short, then the text is a sentence', () => {
    const missing = { cpu: '256', memory: '1Ti' };
    const fields = { need: 'ml/0123456789', cluster: 'ml', group: '', priority: 1, missing, cycles: 6 };
    expect(logText('need-short', { ...fields, why: '3 of the 4 machines that fit have failed' })).toBe(
      'ml/0123456789 has gone without 256 cores, 1 TiB memory for 6 cycles: 3 of the 4 machines that fit have failed',
    );
  });

  it.each<[Partial<Status['providers'][number]>, string]>([
    [{}, 'fine'],
    [{ breaker: 'open' }, 'does not answer'],
    [{ denial: 'who are you' }, 'denies changes: who are you'],
    [{ hasListed: false }, 'being read'],
    [{ heldLosses: 1 }, '1 machine missing from its list, kept for now'],
    [{ waiting: 3 }, '3 calls waiting'],
    [{ lastError: 'timed out' }, 'timed out'],
  ])('given a provider with %o, then the text says it', (change, text) => {
    expect(providerText({ ...PROVIDER, ...change })).toBe(text);
  });
});

describe('heldBackText', () => {
  it('given a reason or an outcome, then it is the text why an action was not begun', () => {
    expect(heldBackText('capped')).toBe('its cluster has just lost as many machines as it may');
    expect(heldBackText('no_session')).toBe('its cluster is not connected');
    expect(heldBackText('a-new-word')).toBe('a-new-word');
  });
});
