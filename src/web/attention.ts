// What needs attention now, worst first, each with a link to where more is shown: what stops the shard, providers and
// zones that fail, clusters that are cut off, shortfalls, and what people have stopped. Runs in a browser.

import type { Freeze } from './feed.ts';
import { count, counted } from './figures.ts';
import type { Live } from './live.ts';
import { healthText } from './loss-text.ts';
import { clusterLink, linkTo, needLink } from './place.ts';
import { clusterNotes, isInTrouble, machinesIn, missingText, providerText } from './sentences.ts';

export interface AttentionItem {
  /** `failed` needs a person or more capacity; `doing` is worth knowing. */
  readonly mood: 'failed' | 'doing';
  readonly text: string;
  readonly href: string;
}

/** Items of one kind, so that one kind does not hide the others. */
const MAX_EACH = 5;

/** The part of the live state that is looked at; clusters in trouble come first. */
type Watched = Pick<Live, 'status' | 'shortfalls' | 'clusters' | 'freezes'>;

export function attentionItems({ status, shortfalls, clusters, freezes }: Watched): readonly AttentionItem[] {
  if (status === null) return [];
  const items = [
    ...phaseItems(status),
    ...firstOf(status.providers.filter(isInTrouble), (provider) => ({
      ...{ mood: 'failed' as const, href: linkTo('timeline', [], { kind: 'loss' }) },
      text: `${provider.name}: ${providerText(provider)}`,
    })),
    ...firstOf(
      status.providers.filter((provider) => !isInTrouble(provider) && provider.health.failing > 0),
      (provider) => ({
        ...{ mood: 'doing' as const, href: linkTo('machines', [], { state: 'FAILED' }) },
        text: `${provider.name}: ${healthText(provider)}`,
      }),
    ),
    ...firstOf(clusters, (cluster) => {
      const notes = clusterNotes(cluster);
      if (notes.length === 0) return null;
      const mood = cluster.needs > 0 && !cluster.hasSession ? ('failed' as const) : ('doing' as const);
      return { mood, text: `${cluster.cluster}: ${notes.join('; ')}`, href: clusterLink(cluster.cluster) };
    }),
    ...firstOf(shortfalls, (shortfall) => ({
      mood: shortfall.isEscalated ? ('failed' as const) : ('doing' as const),
      text: `${shortfall.id} (priority ${shortfall.priority}) lacks ${missingText(shortfall)} for ${counted(shortfall.ageCycles, 'cycle')}: ${shortfall.why}`,
      href: needLink(shortfall.id),
    })),
    ...moreShortfalls(status.shortfalls, Math.min(MAX_EACH, shortfalls.length)),
    ...failedMachines(machinesIn(status, 'FAILED')),
    ...freezeItems(freezes),
  ];
  return [...items.filter(({ mood }) => mood === 'failed'), ...items.filter(({ mood }) => mood === 'doing')];
}

function firstOf<T>(all: readonly T[], itemOf: (each: T) => AttentionItem | null): readonly AttentionItem[] {
  return all.flatMap((each) => itemOf(each) ?? []).slice(0, MAX_EACH);
}

function phaseItems(status: NonNullable<Live['status']>): readonly AttentionItem[] {
  const href = linkTo('timeline');
  if (status.phase === 'fenced')
    return [{ mood: 'failed', text: 'A newer shard of this name has taken over.', href }];
  return status.dryRun
    ? [{ mood: 'doing', text: 'Dry run: decisions are shown and not carried out.', href: linkTo('controls') }]
    : [];
}

function moreShortfalls(total: number, shown: number): readonly AttentionItem[] {
  if (total <= shown) return [];
  const text = `${counted(total - shown, 'more Need')} without what they want`;
  return [{ mood: 'doing', text, href: linkTo('needs', [], { unmet: 'true' }) }];
}

function failedMachines(failed: number): readonly AttentionItem[] {
  if (failed === 0) return [];
  const text = `${counted(failed, 'machine')} failed`;
  return [{ mood: 'doing', text, href: linkTo('machines', [], { state: 'FAILED' }) }];
}

function freezeItems(freezes: readonly Freeze[]): readonly AttentionItem[] {
  const [first] = freezes;
  if (first === undefined) return [];
  const more = freezes.length === 1 ? '' : `, and ${count(freezes.length - 1)} more`;
  const why = first.why === '' ? '' : `: ${first.why}`;
  const text = `Frozen by ${first.who} (${first.id})${why}${more}`;
  return [{ mood: 'doing', text, href: linkTo('controls') }];
}
