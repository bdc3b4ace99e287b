// Lines of the page's answer about one machine or one Need. The shard writes the sentences (src/model/sharing-text.ts); this
// file selects and orders them.

import type { AskedMachine, AskedNeed } from './feed.ts';
import { perHour } from './figures.ts';
import { STATES } from './sentences.ts';

/** Paths of the API to try for a name, in order: a Need is named by its cluster and ten hexadecimal digits. */
export function pathsOf(name: string): readonly string[] {
  const machine = `/v1/machines/${encodeURIComponent(name)}`;
  const slash = name.lastIndexOf('/');
  const digits = name.slice(slash + 1).toLowerCase();
  if (slash < 1 || !/^[0-9a-f]{10}$/.test(digits)) return [machine];
  return [`/v1/needs/${encodeURIComponent(name.slice(0, slash))}/${digits}`, machine];
}

export function answerLines(answer: AskedMachine | AskedNeed): readonly string[] {
  return 'obstacles' in answer ? needLines(answer) : machineLines(answer);
}

function machineLines({
  id,
  state,
  cluster,
  pricePerHour,
  usage,
  unclaimed,
  renewal,
  held,
  lastError,
}: AskedMachine): readonly string[] {
  const label = STATES.find((each) => each.state === state)?.label ?? state;
  return [
    `${id}: ${label}${cluster === '' ? '' : ` in ${cluster}`}, ${perHour(pricePerHour)}`,
    usage?.sentence ?? '',
    unclaimed?.sentence ?? '',
    renewal?.sentence ?? '',
    held === null ? '' : `kept out of decisions: ${held.why}`,
    lastError,
  ].filter((line) => line !== '');
}

function needLines({ need, sentence, remainders, obstacles, advice, remarks }: AskedNeed): readonly string[] {
  return [
    `${need.id}: ${sentence}`,
    need.why,
    remainders.sentence,
    // A Need that is met has no obstacles.
    ...(need.isMet ? [] : obstacles.map((obstacle) => obstacle.sentence)),
    ...advice,
    ...remarks,
  ].filter((line) => line !== '');
}
