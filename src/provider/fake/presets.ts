// Presets of the fake cloud's settings, by the names in settings.ts. `realistic` follows an ordinary day of a large
// cloud, with weekly faults occurring every hour; `hostile` is a permanent bad day.

import type { FakeSettings } from './settings.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Transitions take milliseconds and succeed; prices are constant, and no host is lost. */
const calm: FakeSettings = {
  latency: {
    create: { medianMs: 5, spread: 0.3 },
    configure: { medianMs: 5, spread: 0.3 },
    drain: { medianMs: 5, spread: 0.3 },
    delete: { medianMs: 5, spread: 0.3 },
    factor: { bareMetal: 1, reserved: 1, onDemand: 1, spot: 1 },
  },
  operations: { transientError: 0, permanentError: 0, slow: 0, slowFactor: 20, hang: 0, neverReady: 0 },
  market: { priceSwing: 0, rateSwing: 0, stepMs: 10 * MINUTE_MS, refreshMs: MINUTE_MS },
  stock: { outChance: 0, outMs: 20 * MINUTE_MS },
  quotas: {},
  losses: { interruptionFactor: 0, deathsPerHour: 0, cleanupMs: 10 * MINUTE_MS, tickMs: 10_000 },
  transport: {
    delayMs: 0,
    unavailable: 0,
    lostReply: 0,
    duplicate: 0,
    reorder: 0,
    reorderMs: 500,
    slow: 0,
    slowMs: 3000,
    hang: 0,
    hangMs: 10 * MINUTE_MS,
    throttle: 0,
    callsPerSecond: 0,
    partialList: 0,
  },
};

const realistic: FakeSettings = {
  latency: {
    create: { medianMs: 40_000, spread: 0.5 },
    configure: { medianMs: 35_000, spread: 0.4 },
    drain: { medianMs: 30_000, spread: 0.8 },
    delete: { medianMs: 20_000, spread: 0.5 },
    factor: { bareMetal: 3, reserved: 1, onDemand: 1, spot: 1.3 },
  },
  operations: {
    transientError: 0.02,
    permanentError: 0.003,
    slow: 0.005,
    slowFactor: 20,
    hang: 0.001,
    neverReady: 0.002,
  },
  market: { priceSwing: 0.4, rateSwing: 0.6, stepMs: 10 * MINUTE_MS, refreshMs: 5 * MINUTE_MS },
  stock: { outChance: 0.03, outMs: 20 * MINUTE_MS },
  quotas: {},
  losses: { interruptionFactor: 1, deathsPerHour: 0.0001, cleanupMs: 10 * MINUTE_MS, tickMs: 10_000 },
  transport: {
    delayMs: 5,
    unavailable: 0.005,
    lostReply: 0.003,
    duplicate: 0.001,
    reorder: 0.01,
    reorderMs: 500,
    slow: 0.01,
    slowMs: 3000,
    hang: 0.0005,
    hangMs: 10 * MINUTE_MS,
    throttle: 0.005,
    callsPerSecond: 0,
    partialList: 0.002,
  },
};

const hostile: FakeSettings = {
  latency: {
    create: { medianMs: 90_000, spread: 0.9 },
    configure: { medianMs: 60_000, spread: 0.8 },
    drain: { medianMs: 60_000, spread: 1 },
    delete: { medianMs: 60_000, spread: 0.9 },
    factor: { bareMetal: 2, reserved: 1, onDemand: 1, spot: 1.5 },
  },
  operations: {
    transientError: 0.2,
    permanentError: 0.05,
    slow: 0.05,
    slowFactor: 30,
    hang: 0.02,
    neverReady: 0.05,
  },
  market: { priceSwing: 0.9, rateSwing: 0.9, stepMs: 2 * MINUTE_MS, refreshMs: MINUTE_MS },
  stock: { outChance: 0.25, outMs: HOUR_MS / 2 },
  quotas: {},
  losses: { interruptionFactor: 5, deathsPerHour: 0.02, cleanupMs: 30 * MINUTE_MS, tickMs: 5000 },
  transport: {
    delayMs: 50,
    unavailable: 0.05,
    lostReply: 0.05,
    duplicate: 0.03,
    reorder: 0.1,
    reorderMs: 5000,
    slow: 0.1,
    slowMs: 8000,
    hang: 0.01,
    hangMs: 10 * MINUTE_MS,
    throttle: 0.05,
    callsPerSecond: 0,
    partialList: 0.05,
  },
};

export const PRESETS = { calm, realistic, hostile } as const;
