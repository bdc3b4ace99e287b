import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FakeSettings, PRESET_NAMES, presetSettings } from './settings.ts';
import { patchOf, patchSettings } from './settings-patch.ts';

const calm = presetSettings('calm');

/** Every number of the settings by its dotted name. */
function flat(settings: object, path = ''): readonly (readonly [string, number])[] {
  return Object.entries(settings).flatMap(([key, value]: [string, unknown]) => {
    const here = path === '' ? key : `${path}.${key}`;
    return typeof value === 'object' && value !== null
      ? flat(value, here)
      : [[here, value as number] as const];
  });
}

describe('settings of the fake cloud', () => {
  it.each(PRESET_NAMES)('given the preset %s, then every number is within its bounds', (name) => {
    expect(patchSettings(calm, presetSettings(name))).toEqual(presetSettings(name));
  });

  it('given any name and a value within its bounds, when set, then only that setting changes', () => {
    const names = flat(calm).map(([name]) => name);
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.constantFrom(0.5, 0.25), (name, value) => {
        const isStep = /stepMs|refreshMs|tickMs|outMs$/.test(name);
        const wanted = isStep ? 1 + value : value;
        const before = new Map(flat(calm));
        const after = new Map(flat(patchSettings(calm, patchOf(`${name}=${wanted}`))));
        expect(after).toEqual(new Map([...before, [name, wanted]]));
      }),
    );
  });

  it('given all presets, then they have the same setting names', () => {
    const names = (settings: FakeSettings) => flat(settings).map(([name]) => name);
    for (const preset of PRESET_NAMES) expect(names(presetSettings(preset))).toEqual(names(calm));
  });

  it('given quotas, when one is patched, then the others are unchanged; when it is null, then it is removed', () => {
    const limited = patchSettings(calm, { quotas: { gpu: 1, 'general/zone-a': 2 } });
    expect(patchSettings(limited, { quotas: { gpu: null } }).quotas).toEqual({ 'general/zone-a': 2 });
    expect(patchSettings(calm, patchOf('quotas.general/zone.a=3')).quotas).toEqual({ 'general/zone.a': 3 });
  });

  it.each([
    [null, 'Expected an object, found nothing.'],
    [[], 'Expected an object, found a list.'],
    [{ transport: 1 }, 'transport: Expected an object, found the number 1.'],
    [{ transport: { lostReply: 1.1 } }, 'transport.lostReply: Expected a number from 0 to 1, found 1.1.'],
    [{ transport: { lostReply: '0.1' } }, 'transport.lostReply'],
    [{ transport: { lostReply: Number.NaN } }, 'transport.lostReply'],
    [
      { transport: { lost: 0 } },
      'transport.lost: Unknown field; known here: delayMs, unavailable, lostReply',
    ],
    [{ constructor: {} }, 'constructor: Unknown field; known here: latency, operations'],
    [{ market: { stepMs: 0 } }, 'market.stepMs'],
    [{ quotas: { gpu: 1.5 } }, 'quotas.gpu'],
    [{ quotas: 3 }, 'quotas'],
  ])('given the patch %j, then it is refused', (patch, why) => {
    expect(() => patchSettings(calm, patch)).toThrow('BF_INPUT_INVALID');
    expect(() => patchSettings(calm, patch)).toThrow(why);
  });

  it('given several mistakes, then all are reported at once', () => {
    const wrong = () => patchSettings(calm, { operations: { hang: 2 }, stock: { outChance: -1 } });
    expect(wrong).toThrow(/operations\.hang.*stock\.outChance/s);
  });

  it.each(['transport.lostReply', 'transport.lostReply=', '=1', 'transport.lostReply=much'])(
    'given the flag %j, then it is refused',
    (words) => {
      expect(() => patchOf(words)).toThrow('BF_USAGE');
    },
  );
});
