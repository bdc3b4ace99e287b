// Loaded by vitest for test files that share a process (projects.ts): fails the file that leaks a resource, so that the
// file after it does not fail instead.

import { afterAll, expect, vi } from 'vitest';

/** Handles that outlive the test that opened them. Sockets are not listed: fetch keeps some open. */
const LASTING = ['ChildProcess', 'ProcessWrap', 'TCPServerWrap', 'PipeServerWrap', 'MessagePort', 'Worker'];
/** How long handles that a file closed at its end may take to close. */
const CLOSING_MS = 10_000;
/** Globals that packages define when they are first loaded: helpers of tslib (__decorate) and the registry of zod. */
const HELPER = /^__(zod_\w+|[a-z]+([A-Z][a-z]+)*)$/;

const before = traces();

afterAll(async () => {
  // Restores spies that no test of the file has restored.
  vi.restoreAllMocks();
  const isFaked = vi.isFakeTimers();
  if (isFaked) vi.useRealTimers();
  try {
    expect(isFaked, 'fake timers are on: call vi.useRealTimers() when the test ends').toBe(false);
    await vi.waitFor(() => expect(traces(), 'left behind by this file').toEqual(before), CLOSING_MS);
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before.environment)) delete process.env[name];
    Object.assign(process.env, before.environment);
    process.chdir(before.cwd);
  }
});

function traces() {
  const handles = process.getActiveResourcesInfo().filter((kind) => LASTING.includes(kind));
  const listeners = process.eventNames().map((name) => `${String(name)}: ${process.listenerCount(name)}`);
  return {
    handles: handles.toSorted(),
    listeners: listeners.toSorted(),
    cwd: process.cwd(),
    environment: { ...process.env },
    globals: Object.getOwnPropertyNames(globalThis)
      .filter((name) => !HELPER.test(name))
      .toSorted(),
    functions: [fetch, setTimeout, setInterval, Date, Math.random, console.log],
  };
}
