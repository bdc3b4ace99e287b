// Operator frames: the oneof rules of protobuf, the limits of payloads, and the errors of malformed bytes.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { join, len, num, varint } from '../../../testing/support/wire-bytes.ts';
import { ClusterCapacityNeeds } from '../gen/bigfleet/v1alpha1/capacity.ts';
import { BootstrapBlobResponse, Hello, OperatorMessage, ReclaimAck } from '../gen/bigfleet/v1alpha1/shard.ts';
import { decodeStrict } from './decode.ts';
import { WireFormatError } from './errors.ts';
import { FrameLimits, readOperatorFrame } from './frames.ts';

const hello = len(1, len(1, 'c1'), len(3, 'v1alpha1'));
const rollup = len(2, len(1, 'c1'), num(2, 7));

describe('an operator frame with one payload', () => {
  test('given a hello, a bootstrap answer or a reclaim ack, then it is decoded', () => {
    expect(readOperatorFrame(hello)).toEqual({
      kind: 'hello',
      value: { clusterId: 'c1', protocolVersion: 'v1alpha1', features: [] },
    });
    expect(readOperatorFrame(len(3, len(1, 'r1'), len(2, 'data'), num(3, 60), len(4, 'no')))).toEqual({
      kind: 'bootstrapResponse',
      value: { requestId: 'r1', userData: new Uint8Array(Buffer.from('data')), ttlSeconds: 60n, error: 'no' },
    });
    expect(readOperatorFrame(len(4, len(1, 'i1'), num(2, 3)))).toEqual({
      kind: 'reclaimAck',
      value: { instructionId: 'i1', nodesStarted: 3 },
    });
  });

  test('given a roll-up, then it stays encoded, as a view of the frame', () => {
    const frame = readOperatorFrame(rollup);
    expect(frame.kind).toBe('rollup');
    if (frame.kind !== 'rollup') return;
    expect(frame.bytes).toEqual(join([len(1, 'c1'), num(2, 7)]));
    expect(frame.bytes.buffer).toBe(rollup.buffer);
  });

  test('given an empty roll-up, then it is a roll-up and not an unknown frame', () => {
    expect(readOperatorFrame(len(2))).toEqual({ kind: 'rollup', bytes: new Uint8Array() });
  });
});

describe('a node report', () => {
  const limits = FrameLimits;

  test('given one, then it is decoded', () => {
    const bytes = len(
      1000,
      ...[len(1, 'm-1'), num(2, 4), len(3, 'i1'), len(4, 'n-1'), len(5, 'cloud://1'), len(6, 'why')],
      ...[len(7, 'pdb/ns/a'), len(7, 'pod/ns/b')],
    );
    expect(readOperatorFrame(bytes)).toEqual({
      kind: 'nodeReport',
      value: {
        ...{ machineId: 'm-1', kind: 4, instructionId: 'i1', nodeName: 'n-1', providerId: 'cloud://1' },
        ...{ reason: 'why', blockedBy: ['pdb/ns/a', 'pod/ns/b'] },
      },
    });
  });

  test('given a field that is beyond its limit, then it is cut, never within a character', () => {
    const bytes = len(
      1000,
      len(1, 'm'),
      len(6, `${'x'.repeat(limits.reason - 1)}üü`),
      len(7, 'b'.repeat(400)),
    );
    const frame = readOperatorFrame(bytes);
    expect(frame).toMatchObject({
      value: { reason: 'x'.repeat(limits.reason - 1), blockedBy: ['b'.repeat(limits.blockedBy)] },
    });
  });

  test('given more blockers than the limit, then the first are kept', () => {
    const blockers = Array.from({ length: 30 }, (_, i) => len(7, `pod/ns/${i}`));
    const frame = readOperatorFrame(len(1000, len(1, 'm'), ...blockers));
    expect(frame.kind === 'nodeReport' && frame.value.blockedBy).toHaveLength(limits.blockers);
  });

  test.each([
    ['a machine id', len(1, 'm'.repeat(254))],
    ['an instruction id', join([len(1, 'm'), len(3, 'i'.repeat(limits.instructionId + 1))])],
  ])('given %s longer than any, then it answers nothing', (_what, fields) => {
    expect(readOperatorFrame(len(1000, fields))).toEqual({ kind: 'unknownAnswer' });
  });

  test.each([5, -1, 2 ** 31 - 1])('given the unknown kind %s, then it is unspecified', (kind) => {
    expect(readOperatorFrame(len(1000, len(1, 'm'), num(2, kind)))).toMatchObject({ value: { kind: 0 } });
  });

  test('given text that is not UTF-8, or millions of fields, then it is refused', () => {
    expect(() => readOperatorFrame(len(1000, len(6, Uint8Array.of(0xff))))).toThrow('UTF-8');
    const many = Array.from({ length: limits.fields + 1 }, () => num(9, 1));
    expect(() => readOperatorFrame(len(1000, ...many))).toThrow(WireFormatError);
  });
});

describe('an operator frame with several payloads', () => {
  test('given payloads of two kinds, then the last one is used', () => {
    expect(readOperatorFrame(join([rollup, hello])).kind).toBe('hello');
    expect(readOperatorFrame(join([hello, rollup])).kind).toBe('rollup');
  });

  test('given two roll-ups, then they are merged by the rules of protobuf', () => {
    const frame = readOperatorFrame(join([rollup, len(2, num(2, 9), len(3, num(3, 1)))]));
    const merged = decodeStrict(ClusterCapacityNeeds, frame.kind === 'rollup' ? frame.bytes : hello);
    expect(merged).toMatchObject({ clusterId: 'c1', timestampUnixNanos: 9n, needs: [{ priority: 1 }] });
  });

  test('given another payload between two roll-ups, then the first roll-up is dropped', () => {
    const frame = readOperatorFrame(join([rollup, hello, len(2, num(2, 9))]));
    expect(frame).toEqual({ kind: 'rollup', bytes: num(2, 9) });
  });

  test('given two hellos, then their fields are merged', () => {
    const frame = readOperatorFrame(join([hello, len(1, len(1, 'c2'))]));
    expect(frame).toMatchObject({ value: { clusterId: 'c2', protocolVersion: 'v1alpha1' } });
  });
});

describe('an operator frame with unknown fields', () => {
  test('given every wire type, then the fields are skipped', () => {
    const fixed32 = Uint8Array.from([...varint(70 * 8 + 5), 1, 2, 3, 4]);
    const fixed64 = Uint8Array.from([...varint(71 * 8 + 1), 1, 2, 3, 4, 5, 6, 7, 8]);
    const group = Uint8Array.from([...varint(72 * 8 + 3), 8, 1, 0x0b, 0x0c, ...varint(72 * 8 + 4)]);
    const unknown = [num(73, -1), len(74, 'x'), fixed32, fixed64, group];
    expect(readOperatorFrame(join([...unknown, hello, ...unknown])).kind).toBe('hello');
    expect(readOperatorFrame(join(unknown))).toEqual({ kind: 'unknown' });
    expect(readOperatorFrame(new Uint8Array())).toEqual({ kind: 'unknown' });
  });

  test('given a known field number with a wrong wire type, then the field counts as unknown', () => {
    expect(readOperatorFrame(num(2, 1))).toEqual({ kind: 'unknown' });
  });
});

describe('a malformed operator frame', () => {
  test.each([
    ['a zero byte', [0], 0, 'a field number above 0'],
    ['a length beyond the end', [0x12, 5, 1], 2, '5 bytes of field 2, found 1'],
    ['a length one byte beyond the end', [0x12, 2, 1], 2, '2 bytes of field 2, found 1'],
    ['a tag without a value', [0x12], 1, 'a length, found the end'],
    ['a truncated number', [0x08, 0xff], 2, 'a number, found the end'],
    ['a number of 70 bits', [0x08, ...Array(9).fill(0xff), 0x02], 10, 'at most 64 bits'],
    ['a tag of 35 bits', [0xff, 0xff, 0xff, 0xff, 0x7f], 4, 'at most 32 bits'],
    ['an end of a group without its start', [0x0c], 0, 'a wire type'],
    ['a wire type of 6', [0x0e], 0, 'a wire type'],
    ['a group that is not closed', [0x0b, 0x10, 1], 3, 'the end of group 1'],
    ['a group closed by another', [0x0b, 0x14], 1, 'the innermost group'],
    ['1000 nested groups', Array(1000).fill(0x0b), 100, 'at most 100 nested groups'],
  ])('given %s, then the error has the offset and the expectation', (_what, bytes, offset, expected) => {
    const read = () => readOperatorFrame(Uint8Array.from(bytes));
    expect(read).toThrow(WireFormatError);
    expect(read).toThrow(expected);
    expect(read).toThrow(expect.objectContaining({ code: 'BF_WIRE_MALFORMED', offset }));
  });

  test('given text that is not UTF-8, then it is refused, although the generated decoder replaces it', () => {
    const bytes = len(1, len(1, Uint8Array.of(0x63, 0xff)));
    expect(Hello.decode(bytes.subarray(2)).clusterId).toBe('c\ufffd');
    expect(() => readOperatorFrame(bytes)).toThrow('UTF-8');
  });

  test('given a zero byte in a payload, then it is refused, although the generated decoder stops there silently', () => {
    const payload = join([len(1, 'c1'), Uint8Array.of(0), len(3, 'v')]);
    expect(Hello.decode(payload).protocolVersion).toBe('');
    expect(() => readOperatorFrame(len(1, payload))).toThrow(WireFormatError);
  });

  test('given random bytes, then the result is a frame or a WireFormatError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          readOperatorFrame(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(WireFormatError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('given a frame truncated at any byte, then it is refused', () => {
    const whole = OperatorMessage.encode(OperatorMessage.decode(hello)).finish();
    for (let cut = 1; cut < whole.length; cut++) {
      expect(() => readOperatorFrame(whole.subarray(0, cut))).toThrow(WireFormatError);
    }
  });
});

describe('a payload within its limits', () => {
  const text = fc.string({ unit: 'binary', maxLength: 8 });
  const property = <T>(
    given: fc.Arbitrary<T>,
    kind: string,
    type: { encode(value: T): { finish(): Uint8Array } },
  ) => {
    const number = { hello: 1, bootstrapResponse: 3, reclaimAck: 4 }[kind]!;
    fc.assert(
      fc.property(given, (value) => {
        expect(readOperatorFrame(len(number, type.encode(value).finish()))).toEqual({ kind, value });
      }),
    );
  };

  test('given any values, then they are decoded as by the generated code', () => {
    const features = fc.array(text, { maxLength: FrameLimits.features });
    property(fc.record({ clusterId: text, protocolVersion: text, features }), 'hello', Hello);
    const answer = {
      requestId: text.filter((id) => Buffer.byteLength(id) <= FrameLimits.requestId),
      error: text,
    };
    const userData = fc.uint8Array();
    const ttlSeconds = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    property(fc.record({ ...answer, userData, ttlSeconds }), 'bootstrapResponse', BootstrapBlobResponse);
    const nodesStarted = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    property(fc.record({ instructionId: text, nodesStarted }), 'reclaimAck', ReclaimAck);
  });
});

describe('a payload beyond its limits', () => {
  // Bytes that are not UTF-8: the test would fail if they were decoded as text.
  const notUtf8 = (bytes: number) => new Uint8Array(bytes).fill(0xff);

  test('given a cluster id of more than 253 bytes, then the hello is refused and the id is not decoded', () => {
    expect(readOperatorFrame(len(1, len(1, 'x'.repeat(253))))).toMatchObject({ kind: 'hello' });
    expect(readOperatorFrame(len(1, len(1, notUtf8(254))))).toEqual({
      kind: 'refusedHello',
      problem: 'The cluster id has 254 bytes, the limit is 253.',
    });
  });

  test('given a hello of more than 64 KiB, in one field or in many, then it is refused and not decoded', () => {
    const problem = expect.stringMatching(/^The hello has \d+ bytes, the limit is 65536\.$/);
    expect(readOperatorFrame(len(1, notUtf8(65_537)))).toEqual({ kind: 'refusedHello', problem });
    const pieces = Array.from({ length: 20 }, () => len(1, len(3, notUtf8(4000))));
    expect(readOperatorFrame(join(pieces))).toEqual({ kind: 'refusedHello', problem });
  });

  test('given too many or too long features, then those are ignored', () => {
    const long = len(1000, notUtf8(33));
    const features = Array.from({ length: 20 }, (_, i) => len(1000, `feature-${i}`.padEnd(32, 'x')));
    const frame = readOperatorFrame(len(1, len(1, 'c1'), long, ...features));
    expect(frame.kind === 'hello' && frame.value.features).toHaveLength(16);
    expect(frame).toMatchObject({ value: { features: { 0: `feature-0${'x'.repeat(23)}` } } });
  });

  test('given an answer with an id longer than those of the shard, then it is an unknown answer and the id is not decoded', () => {
    expect(readOperatorFrame(len(3, len(1, '0123456789abcdef')))).toMatchObject({
      kind: 'bootstrapResponse',
    });
    expect(readOperatorFrame(len(3, len(1, notUtf8(17))))).toEqual({ kind: 'unknownAnswer' });
    expect(readOperatorFrame(len(4, len(1, 'x'.repeat(64))))).toMatchObject({ kind: 'reclaimAck' });
    expect(readOperatorFrame(len(4, len(1, notUtf8(65))))).toEqual({ kind: 'unknownAnswer' });
  });

  test('given an answer with a long error, then the error is truncated between two characters', () => {
    const frame = readOperatorFrame(len(3, len(1, 'r1'), len(4, `x${'é'.repeat(100_000)}`)));
    expect(frame).toMatchObject({ value: { error: `x${'é'.repeat(499)}` } });
  });

  test('given more than 1000 fields, then the frame is refused', () => {
    const fields = (count: number) => join(Array.from({ length: count }, () => len(2)));
    expect(readOperatorFrame(fields(1000)).kind).toBe('rollup');
    expect(() => readOperatorFrame(fields(1001))).toThrow('at most 1000 fields');
    expect(() => readOperatorFrame(len(1, fields(1001)))).toThrow('at most 1000 fields');
  });
});
