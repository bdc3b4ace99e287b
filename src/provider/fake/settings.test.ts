import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FakeSettings, PRESET_NAMES, patchOf, patchSettings, presetSettings } from './settings.ts';

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

describe('settings', () => {
  it.each(PRESET_NAMES)('the preset %s lies within its own limits', (name) => {
    expect(patchSettings(calm, presetSettings(name))).toEqual(presetSettings(name));
  });

  it('given any one name and a value within reach, when set, then that one changes and no other', () => {
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

  it('the same names and limits hold for every preset', () => {
    const names = (settings: FakeSettings) => flat(settings).map(([name]) => name);
    for (const preset of PRESET_NAMES) expect(names(presetSettings(preset))).toEqual(names(calm));
  });

  it('given quotas, when set, then others stay, and null lifts one', () => {
    const limited = patchSettings(calm, { quotas: { gpu: 1, 'general/zone-a': 2 } });
    expect(patchSettings(limited, { quotas: { gpu: null } }).quotas).toEqual({ 'general/zone-a': 2 });
    expect(patchSettings(calm, patchOf('quotas.general/zone.a=3')).quotas).toEqual({ 'general/zone.a': 3 });
  });

  it.each([
    [null, 'no object'],
    [[], 'no object'],
    [{ transport: 1 }, 'transport: It must be an object.'],
    [{ transport: { lostReply: 1.1 } }, 'transport.lostReply: It must be a number from 0 to 1.'],
    [{ transport: { lostReply: '0.1' } }, 'transport.lostReply'],
    [{ transport: { lostReply: Number.NaN } }, 'transport.lostReply'],
    [{ transport: { lost: 0 } }, 'transport.lost: There is no such setting.'],
    [{ constructor: {} }, 'constructor: There is no such setting.'],
    [{ market: { stepMs: 0 } }, 'market.stepMs'],
    [{ quotas: { gpu: 1.5 } }, 'quotas.gpu'],
    [{ quotas: 3 }, 'quotas'],
  ])('refuses %j', (patch, why) => {
    expect(() => patchSettings(calm, patch)).toThrow('BF_INPUT_INVALID');
    expect(() => patchSettings(calm, patch)).toThrow(why);
  });

  it('names every problem at once, and changes nothing', () => {
    const wrong = () => patchSettings(calm, { operations: { hang: 2 }, stock: { outChance: -1 } });
    expect(wrong).toThrow(/operations\.hang.*stock\.outChance/s);
  });

  it.each(['transport.lostReply', 'transport.lostReply=', '=1', 'transport.lostReply=much'])(
    'refuses the words %j',
    (words) => {
      expect(() => patchOf(words)).toThrow('BF_USAGE');
    },
  );
});
