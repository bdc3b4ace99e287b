// Slots for streams before their hello: bounded per connection and certificate, and evicted from the connection with most.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GreetingPlaces } from './greeting.ts';
import type { Origin } from './port.ts';

const LIMITS = { greeting: 6, greetingPerPeer: 3 };

const from = (connection: object, identity: string | null = null): Origin => ({ connection, identity });

/** Enters streams of one connection, and returns the stream evicted for each. */
function enter(places: GreetingPlaces<string>, origin: Origin, ...streams: string[]): (string | null)[] {
  return streams.map((stream) => {
    expect(places.refusal(origin)).toBeNull();
    return places.enter(stream, origin);
  });
}

describe('GreetingPlaces', () => {
  it('given a connection at its limit of streams, then its next stream is refused, and those of other connections are not', () => {
    const places = new GreetingPlaces<string>(LIMITS);
    const [one, other] = [from({}), from({})];
    enter(places, one, 'a1', 'a2', 'a3');
    expect(places.refusal(one)).toBe('3 streams of this connection have not said hello yet.');
    expect(enter(places, other, 'b1')).toEqual([null]);
    places.leave('a2');
    expect(enter(places, one, 'a4')).toEqual([null]);
  });

  it('given many connections with one certificate, then together they have the limit of one connection', () => {
    const places = new GreetingPlaces<string>(LIMITS);
    for (const stream of ['a1', 'a2', 'a3']) enter(places, from({}, 'cluster/a'), stream);
    expect(places.refusal(from({}, 'cluster/a'))).toContain('of this certificate');
    expect(places.refusal(from({}, 'cluster/b'))).toBeNull();
    places.leave('a1');
    expect(places.refusal(from({}, 'cluster/a'))).toBeNull();
  });

  it('given no free place, when a new connection enters, then the oldest stream of the connection with most is evicted', () => {
    const places = new GreetingPlaces<string>(LIMITS);
    const [one, two, three] = [from({}), from({}), from({})];
    enter(places, one, 'a1', 'a2');
    enter(places, two, 'b1', 'b2', 'b3');
    enter(places, three, 'c1');
    expect(enter(places, from({}), 'd1')).toEqual(['b1']);
    expect(enter(places, from({}), 'e1')).toEqual(['a1']);
    expect(enter(places, from({}), 'f1')).toEqual(['b2']);
    expect(places.size).toBe(6);
  });

  it('given no free place and one stream per connection, when a new connection enters, then the oldest stream is evicted', () => {
    const places = new GreetingPlaces<string>(LIMITS);
    const origins = Array.from({ length: 6 }, () => from({}));
    for (const [i, origin] of origins.entries()) enter(places, origin, `s${i}`);
    expect(enter(places, from({}), 'new')).toEqual(['s0']);
    expect(places.refusal(origins[1]!)).toBe('6 streams have not said hello yet.');
  });

  it('given any sequence of entering and leaving, then every limit holds, and no place stays occupied at the end', () => {
    const step = fc.record({ connection: fc.nat(4), identity: fc.nat(2), leaves: fc.boolean() });
    const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const places = new GreetingPlaces<number>(LIMITS);
      const connections = Array.from({ length: 5 }, () => ({}));
      const inside = new Map<number, Origin>();
      for (const [i, { connection, identity, leaves }] of steps.entries()) {
        const [oldest] = inside.keys();
        if (leaves && oldest !== undefined) {
          inside.delete(oldest);
          places.leave(oldest);
        }
        const origin = from(connections[connection]!, identity === 0 ? null : `cluster/${identity}`);
        if (places.refusal(origin) !== null) continue;
        const evicted = places.enter(i, origin);
        if (evicted !== null) inside.delete(evicted);
        inside.set(i, origin);
        const most = (key: (origin: Origin) => unknown) =>
          Math.max(
            ...[...inside.values()].map(
              (each) => [...inside.values()].filter((other) => key(other) === key(each)).length,
            ),
          );
        expect(places.size).toBe(inside.size);
        expect(inside.size).toBeLessThanOrEqual(LIMITS.greeting);
        expect(most((each) => each.connection)).toBeLessThanOrEqual(LIMITS.greetingPerPeer);
        expect(most((each) => each.identity ?? each)).toBeLessThanOrEqual(LIMITS.greetingPerPeer);
      }
      for (const stream of inside.keys()) places.leave(stream);
      expect(places.size).toBe(0);
      for (const connection of connections) expect(places.refusal(from(connection, 'cluster/1'))).toBeNull();
    });
    fc.assert(property, { numRuns: 300 });
  });
});
