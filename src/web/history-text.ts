// Events of `/v1/history` as sentences with the names that they mention. Runs in a browser.

import type { Action, Loss, Losses, Planned } from './feed.ts';
import type { HistoryEvent } from './feed-details.ts';
import { type Names, namesOf } from './linked-text.ts';
import { lossesText, lossText } from './loss-text.ts';
import { clusterLink, machineLink, needLink } from './place.ts';
import { actionText, heldBackText, logText, missingText, plannedText } from './sentences.ts';

export interface HistoryLine {
  /** `failed`, `doing`, `done` or ''. */
  readonly mood: string;
  readonly text: string;
  readonly names: Names;
}

export function historyLine(entry: HistoryEvent): HistoryLine {
  const { event } = entry;
  const names = ownNames(entry);
  switch (event.kind) {
    case 'action-started':
    case 'action-ended': {
      const action = event['action'] as Action;
      // A start is shown as such, although the action may have ended meanwhile.
      const shown = event.kind === 'action-started' ? { ...action, outcome: null } : action;
      return { ...actionText(shown), names: [...names, ...namesOf(action)] };
    }
    case 'loss':
      return { mood: 'failed', text: lossText(event['loss'] as Loss), names };
    case 'losses':
      return { mood: 'failed', text: lossesText(event['losses'] as Losses), names };
    case 'waiting': {
      const planned = event['action'] as Planned;
      const text = `${plannedText({ ...planned, need: planned.need ?? null })}; ${heldBackText(planned.why)}`;
      return { mood: 'doing', text, names };
    }
    case 'need':
      return { ...needChange(event), names };
    case 'log': {
      const level = event['level'];
      const text = logText(String(event['event']), (event['fields'] ?? {}) as Record<string, unknown>);
      return { mood: level === 'error' ? 'failed' : level === 'warn' ? 'doing' : '', text, names };
    }
    default:
      return { mood: '', text: event.kind, names };
  }
}

function needChange(event: HistoryEvent['event']): Pick<HistoryLine, 'mood' | 'text'> {
  const need = event['need'] as { readonly id: string };
  const reason = event['reason'] as string | null;
  if (reason === null) return { mood: 'done', text: `${need.id} is met, or withdrawn` };
  const missing = missingText({ missing: (event['missing'] ?? {}) as Readonly<Record<string, string>> });
  return { mood: 'failed', text: `${need.id} is not met, ${reason}: lacks ${missing}` };
}

function ownNames({ machine, need, cluster }: HistoryEvent): Names {
  return [
    ...(machine === null || machine === '' ? [] : [[machine, machineLink(machine)] as const]),
    ...(need === null || need === '' ? [] : [[need, needLink(need)] as const]),
    ...(cluster === null || cluster === '' ? [] : [[cluster, clusterLink(cluster)] as const]),
  ];
}
