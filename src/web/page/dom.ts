// Reconciles the document with a tree (tree.ts) for page/main.ts, and changes only what differs: focus, selection and
// the position of a screen reader are kept, and nothing accumulates at one update a second for days.

import type { Tree } from '../tree.ts';

const SVG = 'http://www.w3.org/2000/svg';
const SVG_TAGS = new Set(['svg', 'rect', 'polyline']);

/** Makes `trees` the children of `parent`. */
export function show(parent: Element, trees: readonly Tree[]): void {
  trees.forEach((tree, at) => {
    const now = parent.childNodes[at];
    if (now === undefined) parent.appendChild(create(tree));
    else if (!update(now, tree)) parent.replaceChild(create(tree), now);
  });
  while (parent.childNodes.length > trees.length) parent.lastChild?.remove();
}

/** False: the node is of another kind and must be replaced. */
function update(node: ChildNode, tree: Tree): boolean {
  if (typeof tree === 'string') {
    if (node.nodeType !== Node.TEXT_NODE) return false;
    if (node.textContent !== tree) node.textContent = tree;
    return true;
  }
  if (!(node instanceof Element) || node.localName !== tree.tag) return false;
  setAttributes(node, tree.attributes);
  show(node, tree.children);
  return true;
}

function create(tree: Tree): ChildNode {
  if (typeof tree === 'string') return document.createTextNode(tree);
  const element = SVG_TAGS.has(tree.tag)
    ? document.createElementNS(SVG, tree.tag)
    : document.createElement(tree.tag);
  setAttributes(element, tree.attributes);
  show(element, tree.children);
  return element;
}

function setAttributes(element: Element, attributes: Readonly<Record<string, string>>): void {
  for (const name of element.getAttributeNames()) {
    if (!(name in attributes)) element.removeAttribute(name);
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
}
