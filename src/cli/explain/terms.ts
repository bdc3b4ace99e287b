// What the terms mean that sentences, tables and headings of every surface are written in, for `bigfleet explain WORD`:
// a reader who meets BigFleet for the first time asks for these before any code.

import type { Meaning } from './decision-terms.ts';

export const TERMS: Readonly<Record<string, Meaning>> = {
  Need: {
    summary:
      'What one cluster wants of one kind of machine: an amount of resources, requirements on the machines, and a priority. Its id is CLUSTER/TEN-HEX-DIGITS.',
    remedy: 'See "bigfleet get needs", and "bigfleet explain NEED" for one of them.',
    synonyms: ['Needs', 'row', 'rows'],
  },
  'roll-up': {
    summary: 'All Needs of a cluster in one message, which replaces the one before it.',
    synonyms: ['rollup'],
  },
  priority: {
    summary:
      'How important a Need is. A higher one is served first, and may preempt machines of a lower one.',
  },
  rank: {
    summary:
      'The order in which Needs are served: by priority, then by penalties, then by the order of arrival. Rows of equal rank never preempt one another.',
    synonyms: ['better-ranked', 'equal rank'],
  },
  gang: {
    summary:
      'A Need that is served in one domain as a whole or not at all, such as a training job in one rack.',
  },
  domain: { summary: 'Machines that share the value of a topology label: a rack, a zone.' },
  shortfall: {
    summary:
      'What a Need lacks after a cycle: neither its machines nor those that are draining for it will cover it.',
    remedy: 'See "bigfleet get shortfalls".',
    synonyms: ['shortfalls', 'missing'],
  },
  escalated: { summary: 'A shortfall has lasted for more than 5 cycles.' },
  cycle: { summary: 'One decision on the whole fleet, about once a second.' },
  plan: {
    summary: 'What the last cycle decided and did not carry out, under a freeze or in a dry run.',
    remedy: 'See "bigfleet get plan".',
  },
  freeze: {
    summary: 'An order of a person to leave machines alone: all, those of a cluster, or one kind of action.',
    remedy: 'See "bigfleet get freezes"; lift one with "bigfleet unfreeze ID".',
    synonyms: ['freezes', 'unfreeze'],
  },
  provider: {
    summary: 'A source of machines, which creates, configures, drains and deletes them for the shard.',
    synonyms: ['cloud'],
  },
  breaker: {
    summary: 'Stops calls that buy or bind at a provider that does not answer, until it answers again.',
  },
  shard: { summary: 'The process that owns a part of the fleet, and decides for its clusters.' },
  session: { summary: 'The connection of a cluster to the shard; without one it can bind no machines.' },
  epoch: { summary: 'Counts the starts of a shard, so that providers refuse calls of an older one.' },
  cost: {
    summary: 'Dollars per hour of all machines that have a host, by what they do; the parts add up to it.',
    synonyms: ['per hour'],
  },
  owned: {
    summary:
      'The price that --owned-price gives machines that their provider prices at 0. It is shown beside the cost, and no decision reads it.',
    synonyms: ['amortised'],
  },
  'on hold': {
    summary:
      'A bound machine that no Need counts on and that the setting reclaimHold keeps for some time, in case demand returns.',
    remedy:
      'See the note in "bigfleet get machines"; until it is given back, any Need that is short may use it.',
    synonyms: ['hold', 'unclaimed', 'onHold'],
  },
  renewal: {
    summary:
      'Some machines of a cluster are replaced by cheaper ones that serve the same Needs; they leave once these are Configured.',
    remedy:
      'See the note in "bigfleet get machines"; a freeze of the cluster stops it, and so does the setting "renewal: off".',
    synonyms: ['renewed', 'retiring', 'to be replaced'],
  },
  guardrail: {
    summary:
      'A limit on how much of a plan is carried out in one cycle; it never changes which Need comes first.',
    remedy: 'See "bigfleet get plan" for what waits, and "guardrails" in the configuration.',
    synonyms: ['guardrails'],
  },
  spare: { summary: 'Capacity of serving machines that no Need counts on.' },
};
