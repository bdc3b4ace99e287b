// Parses the scale profiles of bench/profiles/*.yaml.

import { CATALOGUE_NAMES, catalogueOf } from '../../src/demo/catalogues/index.ts';
import type { Change, ScaleProfile, Threshold } from '../../src/demo/workload/scale-profile.ts';
import { ok, type Problem, type Result, refused } from '../../src/model/index.ts';
import { parseDocumentText } from '../../src/scenario/document.ts';
import { describe, Fields, type NumberRule } from '../../src/scenario/fields.ts';
import { isRegime, REGIMES } from './regimes.ts';

const COUNT: NumberRule = { min: 0, max: 10_000_000, integer: true };
const PART: NumberRule = { min: 0, max: 1 };
const NO_CHANGE: Change = { clusters: 0, rows: 0, machines: 0 };

/** Parses a profile; every problem is reported with its path. */
export function parseScaleProfile(text: string): Result<ScaleProfile> {
  const document = parseDocumentText(text);
  if (!document.ok) return document;
  const problems: Problem[] = [];
  const fields = new Fields(document.value, '', problems);
  if (problems.length > 0) return refused(problems);
  const name = fields.text('catalogue');
  const catalogue = catalogueOf(name);
  if (catalogue === undefined) {
    fields.say(
      'catalogue',
      `No catalogue is named ${describe(name)}; there are ${CATALOGUE_NAMES.join(', ')}.`,
    );
  }
  const machines = fields.map('machines');
  const racks = fields.map('racks');
  const profile = {
    name: fields.text('name'),
    about: fields.text('about'),
    clusters: fields.number('clusters', 0, { ...COUNT, min: 1 }),
    needs: fields.number('needs', 0, COUNT),
    configured: machines?.number('configured', 0, COUNT) ?? 0,
    idle: machines?.number('idle', 0, COUNT) ?? 0,
    speculative: machines?.number('speculative', 0, COUNT) ?? 0,
    density: fields.number('density', 100, { ...COUNT, min: 1 }),
    groups: fields.flag('groups', true),
    racksPerZone: racks?.number('perZone', 0, COUNT) ?? 10,
    machinesPerRack: racks?.number('machines', 0, COUNT) ?? 0,
    jitter: fields.number('jitter', 0, { min: 0, max: 0.01 }),
    churn: readChange(fields.map('churn')),
    burst: readChange(fields.map('burst')),
    thresholds: fields.objects('thresholds').map(readThreshold),
  };
  machines?.done();
  racks?.done();
  fields.done();
  if (problems.length > 0 || catalogue === undefined) return refused(problems);
  return ok({ ...profile, catalogue });
}

function readChange(fields: Fields | undefined): Change {
  if (fields === undefined) return NO_CHANGE;
  const change = {
    clusters: fields.number('clusters', 0, PART),
    rows: fields.number('rows', 0, PART),
    machines: fields.number('machines', 0, PART),
  };
  fields.done();
  return change;
}

function readThreshold(fields: Fields): Threshold {
  const threshold = {
    regime: fields.text('regime'),
    p99Ms: fields.number('p99Ms', 0, { min: 0 }),
    why: fields.text('why'),
  };
  if (!isRegime(threshold.regime)) {
    fields.say(
      'regime',
      `No regime is named ${describe(threshold.regime)}; there are ${REGIMES.join(', ')}.`,
    );
  }
  if (threshold.why === '') fields.say('why', 'A threshold without a reason says nothing when it fails.');
  fields.done();
  return threshold;
}
