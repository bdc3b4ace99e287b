// As much of a document as the page's script uses, for tests without a browser (page.test.ts).

export class FakeNode {
  static readonly TEXT_NODE = 3;
  readonly childNodes: FakeNode[] = [];
  parent: FakeNode | null = null;
  readonly nodeType: number;
  #text: string;

  constructor(nodeType: number, text = '') {
    this.nodeType = nodeType;
    this.#text = text;
  }

  get textContent(): string {
    return this.#text + this.childNodes.map((node) => node.textContent).join('');
  }

  set textContent(text: string) {
    this.#text = text;
  }

  get lastChild(): FakeNode | undefined {
    return this.childNodes.at(-1);
  }

  appendChild(node: FakeNode): void {
    node.parent = this;
    this.childNodes.push(node);
  }

  replaceChild(node: FakeNode, old: FakeNode): void {
    node.parent = this;
    this.childNodes.splice(this.childNodes.indexOf(old), 1, node);
  }

  remove(): void {
    const siblings = this.parent?.childNodes ?? [];
    siblings.splice(siblings.indexOf(this), 1);
  }
}

export class FakeElement extends FakeNode {
  readonly localName: string;
  readonly attributes = new Map<string, string>();
  /** Of an input. */
  value = '';

  constructor(localName: string) {
    super(1);
    this.localName = localName;
  }

  /** `data-scenario` is `scenario`. */
  get dataset(): Record<string, string> {
    return Object.fromEntries(
      [...this.attributes].map(([name, value]) => [name.replace('data-', ''), value]),
    );
  }

  getAttributeNames(): string[] {
    return [...this.attributes.keys()];
  }

  getAttribute(name: string): string | null {
    return this.attributes.get(name) ?? null;
  }

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  closest(): FakeElement {
    return this;
  }
}

type Listener = (event: { readonly target: unknown; readonly preventDefault: () => void }) => void;

/** A document with an empty element for each id. */
export class FakeDocument {
  readonly byId: ReadonlyMap<string, FakeElement>;
  readonly #listeners: { readonly kind: string; readonly listener: Listener }[] = [];

  constructor(ids: readonly string[]) {
    this.byId = new Map(ids.map((id) => [id, new FakeElement('div')]));
  }

  getElementById(id: string): FakeElement | null {
    return this.byId.get(id) ?? null;
  }

  createTextNode(text: string): FakeNode {
    return new FakeNode(FakeNode.TEXT_NODE, text);
  }

  createElement(tag: string): FakeElement {
    return new FakeElement(tag);
  }

  createElementNS(_space: string, tag: string): FakeElement {
    return new FakeElement(tag);
  }

  addEventListener(kind: string, listener: Listener): void {
    this.#listeners.push({ kind, listener });
  }

  click(target: FakeNode | undefined): void {
    this.#fire('click', target);
  }

  /** Enters a text in the input with this id and submits its form. */
  submit(id: string, text: string): void {
    const input = this.getElementById(id)!;
    input.value = text;
    this.#fire('submit', input);
  }

  #fire(kind: string, target: unknown): void {
    for (const each of this.#listeners)
      if (each.kind === kind) each.listener({ target, preventDefault: () => {} });
  }

  textOf(id: string): string {
    return this.getElementById(id)?.textContent ?? '';
  }
}
