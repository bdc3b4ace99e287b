import { describe, expect, it } from 'vitest';
import { ChangeLog } from './changelog.ts';

describe('a log of changes', () => {
  it('given a reader, then it reads the entries since its last position', () => {
    const log = new ChangeLog();
    log.add(7);
    const position = log.end;
    expect(log.since(position)).toEqual([]);

    log.add(3);
    log.add(7);

    expect(log.since(position)).toEqual([3, 7]);
  });

  it('given more changes than the log holds, then a reader behind the oldest entry must rebuild and a later one need not', () => {
    const log = new ChangeLog();
    const before = log.end;
    for (let i = 0; i < 100_000; i++) log.add(i);
    const after = log.end;
    log.add(1);

    expect(log.since(before)).toBeNull();
    expect(log.since(after)).toEqual([1]);
  });

  it('given a restart, then every reader must rebuild', () => {
    const log = new ChangeLog();
    const position = log.end;

    log.restart();

    expect(log.since(position)).toBeNull();
    expect(log.since(log.end)).toEqual([]);
  });
});
