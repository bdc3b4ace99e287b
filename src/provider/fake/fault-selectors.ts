// Failures on request, for the fault target of the conformance suite (conformance/behaviours/faults.ts), which asks for
// them by the names of clusters and by a label. Wraps any backend; `bigfleet provider fake --faults` wraps the fake
// cloud. A machine that fails this way stays Failed unless the wrapped backend recovers it.

import type { Clock } from '../../runtime/clock.ts';
import type { Backend, Offering } from '../backend.ts';
import { aborted, sleep } from './sleep.ts';

/** Extra quota slots whose Create fails. */
const FAULTY_SLOTS = 8;
const CREATE_FAULT_LABEL = 'conformance.fault/create';
/** Delay of a late success after the transition timeout. */
const LATE_MS = 1000;

/** Wraps a backend so that it fails on request, as the `fault` profile of the conformance suite expects. */
export function withFaultSelectors(backend: Backend, clock: Clock, prefix: string): Backend {
  return {
    describe: async (signal) => {
      const offerings = await backend.describe(signal);
      return [...offerings, ...faultySlots(offerings, prefix)];
    },
    create: (machine, operation) => {
      if (machine.labels.get(CREATE_FAULT_LABEL) === 'error') return failed('the cloud refused to create it');
      return backend.create(machine, operation);
    },
    configure: async (machine, binding, operation) => {
      switch (binding.cluster) {
        case 'fault-error':
          return await failed('the host refused the bootstrap blob');
        case 'fault-timeout':
          return await aborted(operation.signal, 'blocked until the timeout');
        case 'fault-readiness-block':
          await backend.configure(machine, binding, operation);
          return await aborted(operation.signal, 'the node never became Ready');
        case 'fault-slow-ok':
          await aborted(operation.signal, '').catch(() => {});
          return await sleep(clock, LATE_MS);
        default:
          return await backend.configure(machine, binding, operation);
      }
    },
    drain: (machine, graceSeconds, operation) => {
      if (machine.cluster === 'fault-drain-error') return failed('a pod would not leave');
      return backend.drain(machine, graceSeconds, operation);
    },
    ...(backend.delete === undefined ? {} : { delete: (...args) => backend.delete!(...args) }),
  };
}

function faultySlots(offerings: readonly Offering[], prefix: string): readonly Offering[] {
  const like = offerings.find(({ host }) => host === null);
  if (like === undefined) return [];
  return Array.from({ length: FAULTY_SLOTS }, (_, i) => ({
    ...like,
    id: `${prefix}-fault-${i}`,
    labels: new Map([...like.labels, [CREATE_FAULT_LABEL, 'error']]),
  }));
}

function failed(reason: string): Promise<never> {
  return Promise.reject(new Error(reason));
}
