// The reasons why a Need may be unmet, as the API and `bigfleet get needs` name them; each Need comes with its sentence. A
// copy, since pages import no other room: a test compares it. Runs in a browser.

export const UNMET_REASONS = [
  'set-aside',
  'preempting',
  'topology-unsatisfiable',
  'no-matching-supply',
  'no-fitting-supply',
  'cluster-disconnected',
  'spend-limit',
  'preemption-exhausted',
  'spread-unsatisfiable',
  'insufficient-supply',
  'priority-starved',
  'claimed-by-equals',
  'claimed-elsewhere',
  'supply-failed',
  'supply-blocked',
] as const;
