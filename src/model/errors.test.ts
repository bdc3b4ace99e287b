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

  it('has a different summary for every code', () => {
    const summaries = Object.values(ERRORS).map((entry) => entry.summary);
    expect(new Set(summaries).size).toBe(summaries.length);
  });

  it('recognizes its own codes, and no inherited property names', () => {
    for (const code of Object.keys(ERRORS)) expect(isErrorCode(code)).toBe(true);
    for (const text of ['', 'BF_', 'BF_NO_SUCH', 'bf_usage', 'toString', '__proto__', 'constructor']) {
      expect(isErrorCode(text)).toBe(false);
    }
  });
});

describe('BigFleetError', () => {
  it('given a path, then the message has the code, the path, the finding and the remedy', () => {
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

  it('given no path, then the finding follows the code directly', () => {
    const error = new BigFleetError('BF_USAGE', 'There is no command "fly".');
    expect(error.message).toBe(`BF_USAGE: There is no command "fly". ${ERRORS.BF_USAGE.remedy}`);
    expect(error.problems[0]?.path).toBe('');
  });

  it('given a cause, then the error keeps it and has a stack', () => {
    const cause = new Error('disk on fire');
    const error = new BigFleetError('BF_INPUT_UNREADABLE', 'Cannot read fleet.yaml.', { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error.cause).toBe(cause);
    expect(error.stack).toContain('BF_INPUT_UNREADABLE');
  });

  it.each(Object.keys(ERRORS) as ErrorCode[])('given %s, then the message ends with its remedy', (code) => {
    const { message } = new BigFleetError(code, 'Found it.', { path: 'here' });
    expect(message).toBe(`${code}: here: Found it. ${ERRORS[code].remedy}`);
  });
});

describe('revivedError, for an error that crossed a thread as a message', () => {
  it.each(Object.keys(ERRORS) as ErrorCode[])(
    'given the message of %s, then it restores code and message',
    (code) => {
      const sent = new BigFleetError(code, 'Found it: twice.', { path: 'here' });
      const revived = revivedError(new Error(sent.message));
      expect(revived).toBeInstanceOf(BigFleetError);
      expect(revived).toMatchObject({ code, message: sent.message });
    },
  );

  it('given an error of another kind, then it is returned unchanged', () => {
    const other = new TypeError('BF_NO_SUCH_CODE: x');
    expect(revivedError(other)).toBe(other);
    expect(revivedError('gone').message).toBe('gone');
  });
});

describe('Result', () => {
  it('has either a value or problems', () => {
    expect(ok(0)).toEqual({ ok: true, value: 0 });
    const problems = [{ code: 'BF_CLUSTER_EMPTY', path: 'clusterId', message: 'No cluster.' }] as const;
    expect(refused(problems)).toEqual({ ok: false, problems });
  });
});
