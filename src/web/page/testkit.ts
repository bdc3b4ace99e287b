// The text and the links of what a view returns, for tests without a browser. Parts without state are called; a part
// that has state (hooks) stays a name, since it needs a document.

import type { ComponentChildren, VNode } from './html.ts';

interface Node {
  readonly type: unknown;
  readonly props: Readonly<Record<string, unknown>> & { readonly children?: ComponentChildren };
}

/** Elements and texts, in the order of the document. */
function* walk(tree: unknown): Generator<Node | string> {
  if (tree === null || tree === undefined || typeof tree === 'boolean') return;
  if (Array.isArray(tree)) {
    for (const each of tree) yield* walk(each);
    return;
  }
  if (typeof tree === 'string' || typeof tree === 'number') {
    yield String(tree);
    return;
  }
  const { type, props } = tree as Node;
  if (typeof type === 'function') yield* walk(called(type as (props: object) => VNode, props));
  else {
    yield { type, props };
    yield* walk(props.children);
  }
}

function called(part: (props: object) => VNode, props: object): VNode | string {
  try {
    return part(props);
  } catch {
    // Hooks work only while a document is rendered.
    return `[${part.name}]`;
  }
}

export function textOf(tree: VNode): string {
  return [...walk(tree)]
    .filter((each) => typeof each === 'string')
    .join(' ')
    .replaceAll(/\s+/g, ' ');
}

export function linksOf(tree: VNode): readonly string[] {
  return [...walk(tree)].flatMap((each) =>
    typeof each === 'object' && typeof each.props['href'] === 'string' ? [each.props['href']] : [],
  );
}

/** Values of the fields and of the chosen options. */
export function valuesOf(tree: VNode): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...walk(tree)].flatMap((each) =>
      typeof each === 'object' && each.type === 'input' ? [[each.props['name'], each.props['value']]] : [],
    ),
  );
}

/** The texts of the buttons, and whether each can be pressed. */
export function buttonsOf(tree: VNode): readonly (readonly [text: string, isEnabled: boolean])[] {
  return [...walk(tree)].flatMap((each) => {
    if (typeof each !== 'object' || each.type !== 'button') return [];
    const text = [...walk(each.props.children)].filter((part) => typeof part === 'string').join('');
    return [[text.trim(), each.props['disabled'] !== true] as const];
  });
}
