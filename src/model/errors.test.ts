import { describe, expect, it } from 'vitest';
import { BigFleetError, ERRORS, type ErrorCode, isErrorCode, revivedError } from './errors.ts';
import { ok, refused } from './result.ts';

describe('the error catalogue', () => {
  it.each(Object.entries(ERRORS))('%s has a well-formed code, a summary and a remedy', (code, entry) => {
    expect(code).toMatch(/^BF_[A-Z_]+$/);
    for (const sentence of [entry.summary, entry.remedy]) {
      expect(sentence).toMatch(/^[A-Z].*[^.\s]\.$/);
      expect(sentence).not.toMatch(/\n|\s{2}/);
    }
  });

  it('says something different about every code', () => {
    const summaries = Object.values(ERRORS).map((entry) => entry.summary);
    expect(new Set(summaries).size).toBe(summaries.length);
  });

  it('knows its own codes and nothing inherited', () => {
    for (const code of Object.keys(ERRORS)) expect(isErrorCode(code)).toBe(true);
    for (const text of ['', 'BF_', 'BF_NO_SUCH', 'bf_usage', 'toString', '__proto__', 'constructor']) {
      expect(isErrorCode(text)).toBe(false);
    }
  });
});

describe('BigFleetError', () => {
  it('given a path, then the message says code, path, what was found and what to do', () => {
    const error = new BigFleetError('BF_MACHINE_PRICE', 'The price is -1.', {
      path: 'machines[3].pricePerHour',
    });
    expect(error.message).toBe(
      'BF_MACHINE_PRICE: machines[3].pricePerHour: The price is -1. Report USD per hour, finite and at least 0.',
    );
    expect(error.code).toBe('BF_MACHINE_PRICE');
    expect(error.name).toBe('BigFleetError');
    expect(error.problems).toEqual([
      { code: 'BF_MACHINE_PRICE', path: 'machines[3].pricePerHour', message: 'The price is -1.' },
    ]);
  });

  it('given no path, then the message goes on right after the code', () => {
    const error = new BigFleetError('BF_USAGE', 'There is no command "fly".');
    expect(error.message).toBe(`BF_USAGE: There is no command "fly". ${ERRORS.BF_USAGE.remedy}`);
    expect(error.problems[0]?.path).toBe('');
  });

  it('keeps its cause and is an Error with a stack', () => {
    const cause = new Error('disk on fire');
    const error = new BigFleetError('BF_INPUT_UNREADABLE', 'Cannot read fleet.yaml.', { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error.cause).toBe(cause);
    expect(error.stack).toContain('BF_INPUT_UNREADABLE');
  });

  it.each(Object.keys(ERRORS) as ErrorCode[])('%s can be thrown with its remedy', (code) => {
    const { message } = new BigFleetError(code, 'Found it.', { path: 'here' });
    expect(message).toBe(`${code}: here: Found it. ${ERRORS[code].remedy}`);
  });
});

describe('an error of which a thread left only the message', () => {
  it.each(Object.keys(ERRORS) as ErrorCode[])('is %s again, with the same message', (code) => {
    const sent = new BigFleetError(code, 'Found it: twice.', { path: 'here' });
    const revived = revivedError(new Error(sent.message));
    expect(revived).toBeInstanceOf(BigFleetError);
    expect(revived).toMatchObject({ code, message: sent.message });
  });

  it('stays what it is if it is of another kind', () => {
    const other = new TypeError('BF_NO_SUCH_CODE: x');
    expect(revivedError(other)).toBe(other);
    expect(revivedError('gone').message).toBe('gone');
  });
});

describe('Result', () => {
  it('is a value or the problems', () => {
    expect(ok(0)).toEqual({ ok: true, value: 0 });
    const problems = [{ code: 'BF_CLUSTER_EMPTY', path: 'clusterId', message: 'No cluster.' }] as const;
    expect(refused(problems)).toEqual({ ok: false, problems });
  });
});
