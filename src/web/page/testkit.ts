// The text and the links of what a view returns, for tests without a browser. Parts without state are called; a part
// that has state (hooks) stays a name, since it needs a document: `rendered` has one, as small as Preact needs it.

import { render } from 'preact';
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
  if (typeof type === 'function') {
    const part = called(type as (props: object) => VNode, props);
    if (typeof part === 'string') yield { type: part, props };
    yield* walk(part);
  } else {
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

const FIELDS: readonly unknown[] = ['input', '[TextFilter]'];

/** Values of the fields. */
export function valuesOf(tree: VNode): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...walk(tree)].flatMap((each) =>
      typeof each === 'object' && FIELDS.includes(each.type)
        ? [[each.props['name'], each.props['value']]]
        : [],
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

/** A node of a document: an element, or a text without a name. */
class SmallNode {
  readonly namespaceURI = 'http://www.w3.org/1999/xhtml';
  readonly ownerDocument = {
    createElementNS: (_: string, name: string) => new SmallNode(name),
    createTextNode: (text: string) => new SmallNode('', text),
  };
  readonly localName: string;
  readonly nodeType: number;
  data: string;
  value = '';
  parentNode: SmallNode | null = null;
  childNodes: readonly SmallNode[] = [];
  readonly #listeners = new Map<string, (event: object) => void>();

  constructor(localName: string, data = '') {
    this.localName = localName;
    this.nodeType = localName === '' ? 3 : 1;
    this.data = data;
  }

  get nextSibling(): SmallNode | null {
    const siblings = this.parentNode?.childNodes ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  get textContent(): string {
    return this.data + this.childNodes.map((each) => each.textContent).join('');
  }

  insertBefore(node: SmallNode, before: SmallNode | null): void {
    node.remove();
    const at = before === null ? this.childNodes.length : this.childNodes.indexOf(before);
    this.childNodes = this.childNodes.toSpliced(at, 0, node);
    node.parentNode = this;
  }

  remove(): void {
    const { parentNode } = this;
    if (parentNode !== null) parentNode.childNodes = parentNode.childNodes.filter((each) => each !== this);
    this.parentNode = null;
  }

  setAttribute(): void {}

  removeAttribute(): void {}

  addEventListener(name: string, listener: (event: object) => void): void {
    this.#listeners.set(name, listener);
  }

  /** As a person who types does: with the value that the field has then. */
  enter(event: 'input' | 'change', value: string): void {
    this.value = value;
    this.#listeners.get(event)!.call(this, { type: event, target: this });
  }

  /** The first element of this name. */
  find(name: string): SmallNode | undefined {
    if (this.localName === name) return this;
    return this.childNodes.map((each) => each.find(name)).find((each) => each !== undefined);
  }
}

/** Renders parts with state; again with each call of `show`. Effects run when timers do. */
export function rendered() {
  const root = new SmallNode('body');
  return { root, show: (tree: VNode | null) => render(tree, root as unknown as Element) };
}
