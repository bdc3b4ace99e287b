// Which route a request means.

import { excerpt } from '../../model/index.ts';
import { Refusal } from './refusal.ts';
import { ROUTES, type Route } from './routes.ts';

export interface Match {
  readonly route: Route;
  readonly params: readonly string[];
}

const PATTERNS = ROUTES.map((route) => ({ route, parts: route.path.split('/') }));

/** null: there is no such path. */
export function matchRoute(method: string, path: string): Match | null {
  const segments = path.split('/');
  const matching = PATTERNS.filter(({ parts }) => fits(parts, segments));
  if (matching.length === 0) return null;
  const found = matching.find(({ route }) => route.method === method);
  if (found === undefined) {
    const allow = matching.map(({ route }) => route.method).join(', ');
    throw new Refusal(405, `There is only ${allow} for ${excerpt(path)}.`, { allow });
  }
  const params = segments.filter((_, i) => isParam(found.parts[i]!)).map(decoded);
  return { route: found.route, params };
}

function fits(parts: readonly string[], segments: readonly string[]): boolean {
  return (
    parts.length === segments.length &&
    parts.every((part, i) => (isParam(part) ? segments[i] !== '' : part === segments[i]))
  );
}

function isParam(part: string): boolean {
  return /^[A-Z]+$/.test(part);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Refusal(400, `"${excerpt(segment)}" is not percent-encoded as it should be.`);
  }
}
