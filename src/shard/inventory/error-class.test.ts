import { describe, expect, it } from 'vitest';
import { classOfError, type ErrorClass } from './error-class.ts';

describe('classOfError', () => {
  it.each<[string, ErrorClass]>([
    ['insufficient capacity: no big in za at the moment', 'stock-out'],
    ['BF_OUT_OF_STOCK: quota exceeded', 'stock-out'],
    ['BF_BACKEND_FAILED: no capacity in the subnet', 'other'],
    ['BF_BACKEND_FAILED: za is unavailable', 'zone-outage'],
    ['quota exceeded: 4 hosts of big in za', 'quota'],
    ['VcpuLimitExceeded: limit exceeded', 'quota'],
    ['AccessDenied: not permitted', 'denied'],
    ['za is unavailable', 'zone-outage'],
    ['the availability zone is impaired', 'zone-outage'],
    ['an outage in za since noon', 'zone-outage'],
    ['the spot host was taken back by the cloud', 'interrupted'],
    ['create did not end within 300 s', 'timeout'],
    ['The machine has been Creating for 600 s.', 'timeout'],
    ['connection reset', 'unreachable'],
    ['the host died', 'host-failed'],
    ['', 'other'],
    ['E-4711', 'other'],
  ])('given "%s", then it is %s', (text, errorClass) => {
    expect(classOfError(text, { zone: 'za', isSpot: true })).toBe(errorClass);
  });

  it('given a machine that is not spot, then an interruption is a host failure', () => {
    const error = 'the host was interrupted';
    expect(classOfError(error, { zone: 'za', isSpot: false })).toBe('host-failed');
  });

  it('given a zone with a name of one letter, then only a text about the zone is an outage', () => {
    expect(classOfError('a is unavailable', { zone: 'a', isSpot: false })).toBe('zone-outage');
    expect(classOfError('a host is offline', { zone: 'a', isSpot: false })).toBe('host-failed');
  });
});
