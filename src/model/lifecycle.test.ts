import { describe, expect, it } from 'vitest';
import { COMMANDS, Command, commandTarget, GONE, Meaning, meaningOf, type Sighting } from './lifecycle.ts';
import { isBound, MachineState, stateName } from './machine.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;
const STATES = Object.values(MachineState);
const SIGHTINGS: readonly Sighting[] = [...STATES, GONE];

describe('commands', () => {
  const legal: readonly (readonly [Command, MachineState, MachineState])[] = [
    ['create', Speculative, Creating],
    ['configure', Idle, Configuring],
    ['drain', Configured, Draining],
    ['delete', Idle, Deleting],
    ['abandon', Configuring, Idle],
  ];
  const every = Object.values(Command).flatMap((command) => {
    return STATES.map((from) => {
      const to = legal.find(([c, start]) => c === command && start === from)?.[2];
      return [command, stateName(from), to === undefined ? 'refused' : stateName(to), from, to] as const;
    });
  });

  it.each(every)(
    'given the command %s in state %s, then the next state is %s',
    (command, _from, _to, from, to) => {
      if (to !== undefined) expect(commandTarget(command, from)).toBe(to);
      else expect(() => commandTarget(command, from)).toThrow('BF_MOVE_ILLEGAL');
    },
  );

  it('lists each command with its only initial state', () => {
    expect(Object.keys(COMMANDS).sort()).toEqual(Object.values(Command).sort());
    expect(every.filter(([, , to]) => to !== 'refused')).toHaveLength(legal.length);
  });

  it('given an illegal move, then the error names the command, the state, and the state it needs', () => {
    expect(() => commandTarget('drain', Idle)).toThrow(/^BF_MOVE_ILLEGAL: Cannot drain .*Idle.*Configured/);
  });

  it('given an action, then its commands start from the states that the action applies to', () => {
    const startsOf = (kind: string): MachineState[] => {
      return Object.values(COMMANDS).flatMap((move) =>
        move.startedBy.some((k) => k === kind) ? [move.from] : [],
      );
    };
    expect(startsOf('Bootstrap')).toEqual([Idle]);
    expect(startsOf('Provision')).toEqual([Speculative, Idle]);
    expect(startsOf('Preempt')).toEqual([Configured]);
    expect(startsOf('Reclaim')).toEqual([Configured]);
    expect(startsOf('Delete')).toEqual([Idle]);
  });

  it('given any command, then it binds a machine only from Idle, and neither enters nor leaves Failed', () => {
    for (const move of Object.values(COMMANDS)) {
      if (isBound(move.to)) expect(move.from).toBe(Idle);
      expect([move.from, move.to]).not.toContain(Failed);
    }
  });
});

describe('observations', () => {
  // Rows: the state on record. Columns: the state observed. `=` unchanged, `>` progress, `<` rolled back, `!` failed,
  // `x` lost, `+` recovered, `?` foreign.
  const table = `
                 Speculative Creating Idle Configuring Configured Draining Deleting Failed gone
    Speculative  =           ?        ?    ?           ?          ?        ?        x      x
    Creating     <           =        >    ?           ?          ?        ?        !      x
    Idle         x           ?        =    ?           ?          ?        ?        x      x
    Configuring  x           ?        <    =           >          ?        ?        !      x
    Configured   x           ?        x    ?           =          ?        x        x      x
    Draining     x           ?        >    ?           <          =        ?        !      x
    Deleting     >           ?        <    ?           ?          ?        =        !      >
    Failed       +           ?        +    ?           +          ?        ?        =      +
  `;
  const signs: Readonly<Record<string, Meaning>> = {
    '=': Meaning.Unchanged,
    '>': Meaning.Progress,
    '<': Meaning.RolledBack,
    '!': Meaning.Failed,
    x: Meaning.Lost,
    '+': Meaning.Recovered,
    '?': Meaning.Foreign,
  };
  const rows = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));

  it.each(STATES.map((state) => [stateName(state), state] as const))(
    'given %s on record, when any state is observed, then the meaning is that of the table',
    (name, known) => {
      const expected = rows
        .slice(1)
        .find((row) => row[0] === name)!
        .slice(1);
      expect(rows[0]).toEqual([...STATES.map(stateName), GONE]);
      expect(SIGHTINGS.map((seen) => meaningOf(known, seen))).toEqual(expected.map((sign) => signs[sign]));
    },
  );

  it('given any state on record, when any state is observed, then there is a meaning: no observation is illegal', () => {
    const meanings = new Set<string>(Object.values(Meaning));
    for (const known of STATES) {
      for (const seen of SIGHTINGS) expect(meanings.has(meaningOf(known, seen))).toBe(true);
      expect(meaningOf(known, known)).toBe(Meaning.Unchanged);
    }
  });

  // 7.6.1 of the specification.
  it('given a Failed machine, when observed usable or gone, then it has recovered', () => {
    for (const seen of [Speculative, Idle, Configured, GONE] as const) {
      expect(meaningOf(Failed, seen)).toBe(Meaning.Recovered);
    }
    for (const seen of SIGHTINGS) {
      if (seen !== Failed) expect(meaningOf(Failed, seen)).not.toBe(Meaning.Unchanged);
    }
  });

  // 7.6.2 of the specification.
  it('given a Configured machine, when observed Failed, Idle, Deleting, Speculative or gone, then it is lost', () => {
    for (const seen of [Failed, Idle, Deleting, Speculative, GONE] as const) {
      expect(meaningOf(Configured, seen)).toBe(Meaning.Lost);
    }
  });

  it('given a transition in flight, when observed Failed, then it has failed; when observed in its initial state, then it was rolled back', () => {
    for (const state of [Creating, Configuring, Draining, Deleting]) {
      expect(meaningOf(state, Failed)).toBe(Meaning.Failed);
    }
    for (const command of ['create', 'configure', 'drain', 'delete'] as const) {
      const { from, to } = COMMANDS[command];
      expect(meaningOf(to, from)).toBe(Meaning.RolledBack);
    }
  });
});
