// The part of docs/reference/performance.md about the dashboard: the processor time that one open page takes in the shard.

import type { WebFigures } from '../web/figures.ts';
import { columnsOf, markdownTable, short, whole } from './markdown.ts';

/** Percent of one core that one open page may take in the shard. */
const MOST_PERCENT = 20;

export function webSection({ settings, without, withPage, differencePercent, page }: WebFigures): string {
  const { clusters, needs, machines, intervalMs, seconds } = settings;
  return [
    `${whole(clusters)} clusters × ${needs} Needs every ${intervalMs / 1000} s, ${whole(machines)} machines. The processor time of the shard for ${seconds} s with one page\nthat follows the event stream and polls as the overview does, and for as long before and after it without a page. The goal is for\nthe difference.`,
    markdownTable(
      [...columnsOf(['the shard, percent of one core', 'goal, below', 'measured']), { header: '' }],
      [
        ['without a page', '', without.map(({ cpuPercent }) => short(cpuPercent)).join(' and '), ''],
        ['with one page', '', short(withPage.cpuPercent), ''],
        [
          'one page',
          whole(MOST_PERCENT),
          short(differencePercent),
          differencePercent < MOST_PERCENT ? 'met' : 'not met',
        ],
      ],
    ),
    `The page received ${whole(page.events)} events and made ${whole(page.requests)} requests: ${short(page.megabytes)} MB, answers in ${short(page.answerMs.p50)} ms (p50) and ${short(page.answerMs.p99)} ms (p99).`,
  ].join('\n\n');
}
