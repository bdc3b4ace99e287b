// Bootstrap templates: what a new machine is started with, rendered from facts of the machine and the cluster. A template
// is parsed and its names and types are checked when it is read, in all branches, so that a request can fail only on its
// values. Used by renderer.ts; `bigfleet operator check` uses it offline.

import { didYouMean } from '../../runtime/nearest.ts';
import { FUNCTIONS } from './template-functions.ts';
import {
  type Expression,
  type Position,
  parseTemplate,
  TemplateError,
  type TemplateNode,
} from './template-syntax.ts';

/** Types of values: a text, a number, a truth value, a list of records or of texts, texts by name. */
export type TemplateType =
  | 'text'
  | 'number'
  | 'truth'
  | 'texts'
  | 'map'
  | { readonly each: Readonly<Record<string, TemplateType>> };

/** Names that a template may use, with their types. */
export type TemplateScope = Readonly<Record<string, TemplateType>>;

export type TemplateValue =
  | string
  | number
  | boolean
  | readonly string[]
  | ReadonlyMap<string, string>
  | readonly TemplateRecord[];
export type TemplateRecord = Readonly<Record<string, TemplateValue>>;

/** Bytes of what a template renders to. Providers have lower limits of their own. */
const MAX_RENDERED_BYTES = 1024 * 1024;

/** Names within `#each`, besides those of the record: whether it is the first or the last. */
const LOOP_NAMES: TemplateScope = { first: 'truth', last: 'truth' };

export class Template {
  readonly #nodes: readonly TemplateNode[];

  private constructor(nodes: readonly TemplateNode[]) {
    this.#nodes = nodes;
  }

  /** Throws a `TemplateError` for wrong syntax, unknown names and values of the wrong type. */
  static read(source: string, scope: TemplateScope): Template {
    const nodes = parseTemplate(source);
    checkNodes(nodes, scope);
    return new Template(nodes);
  }

  /** `values` has a value for every name of the scope. Throws a `TemplateError` if a function refuses a value. */
  render(values: TemplateRecord): string {
    const parts: string[] = [];
    let bytes = 0;
    renderNodes(this.#nodes, values, (text) => {
      bytes += Buffer.byteLength(text);
      if (bytes > MAX_RENDERED_BYTES)
        throw new TemplateError(`the result has more than ${MAX_RENDERED_BYTES} bytes`, {
          line: 1,
          column: 1,
        });
      parts.push(text);
    });
    return parts.join('');
  }
}

function checkNodes(nodes: readonly TemplateNode[], scope: TemplateScope): void {
  for (const node of nodes) {
    if (node.kind === 'value') checkPrintable(node.value, scope);
    if (node.kind === 'if') {
      typeOf(node.condition, scope);
      checkNodes(node.body, scope);
      checkNodes(node.otherwise, scope);
    }
    if (node.kind === 'each')
      checkNodes(node.body, { ...scope, ...LOOP_NAMES, ...elementScope(node.list, scope) });
  }
}

function checkPrintable(value: Expression, scope: TemplateScope): void {
  const type = typeOf(value, scope);
  if (type === 'text' || type === 'number') return;
  const advice = type === 'truth' ? 'use it with #if' : 'use #each, json or join';
  throw new TemplateError(`${typeName(type)} cannot be written as it is; ${advice}`, value.at);
}

function elementScope(list: Expression, scope: TemplateScope): TemplateScope {
  const type = typeOf(list, scope);
  if (typeof type === 'object') return type.each;
  if (type === 'map') return { key: 'text', value: 'text' };
  if (type === 'texts') return { value: 'text' };
  throw new TemplateError(`#each needs a list, found ${typeName(type)}`, list.at);
}

function typeOf(expression: Expression, scope: TemplateScope): TemplateType {
  switch (expression.kind) {
    case 'text':
    case 'number':
      return expression.kind;
    case 'name': {
      const type = Object.hasOwn(scope, expression.name) ? scope[expression.name] : undefined;
      if (type !== undefined) return type;
      throw unknownName(expression.name, Object.keys(scope), expression.at);
    }
    case 'call': {
      const called = Object.hasOwn(FUNCTIONS, expression.name) ? FUNCTIONS[expression.name] : undefined;
      if (called === undefined) throw unknownName(expression.name, Object.keys(FUNCTIONS), expression.at);
      const types = expression.args.map((each) => typeOf(each, scope));
      const isFit =
        types.length === called.takes.length &&
        called.takes.every((wanted, i) => wanted === 'anything' || wanted === types[i]);
      if (isFit) return called.gives;
      const wanted = called.takes
        .map((each) => (each === 'anything' ? each : typeName(each)))
        .join(', then ');
      const found = types.map(typeName).join(', then ');
      throw new TemplateError(`${expression.name} needs ${wanted}; found ${found}`, expression.at);
    }
  }
}

function unknownName(name: string, known: readonly string[], at: Position): TemplateError {
  return new TemplateError(
    `there is no ${name} here; known: ${known.join(', ')}.${didYouMean(name, known)}`,
    at,
  );
}

function typeName(type: TemplateType): string {
  if (typeof type === 'object') return 'a list of records';
  const names = {
    text: 'a text',
    number: 'a number',
    truth: 'a condition',
    texts: 'a list of texts',
  } as const;
  return type === 'map' ? 'texts by name' : names[type];
}

function renderNodes(
  nodes: readonly TemplateNode[],
  values: TemplateRecord,
  write: (text: string) => void,
): void {
  for (const node of nodes) {
    switch (node.kind) {
      case 'literal':
        write(node.text);
        break;
      case 'value':
        write(String(evaluate(node.value, values) as string | number));
        break;
      case 'if':
        renderNodes(isFilled(evaluate(node.condition, values)) ? node.body : node.otherwise, values, write);
        break;
      case 'each': {
        const records = recordsOf(evaluate(node.list, values));
        for (const [i, record] of records.entries()) {
          const loop = { first: i === 0, last: i === records.length - 1 };
          renderNodes(node.body, { ...values, ...loop, ...record }, write);
        }
      }
    }
  }
}

function evaluate(expression: Expression, values: TemplateRecord): TemplateValue {
  switch (expression.kind) {
    case 'text':
    case 'number':
      return expression.value;
    case 'name':
      return values[expression.name]!;
    case 'call': {
      const args = expression.args.map((each) => evaluate(each, values));
      try {
        return FUNCTIONS[expression.name]!.run(args, values);
      } catch (error) {
        throw new TemplateError(`${expression.name}: ${(error as Error).message}`, expression.at);
      }
    }
  }
}

/** What counts as true: texts, lists and maps that are not empty, numbers other than 0. */
function isFilled(value: TemplateValue): boolean {
  if (typeof value === 'object')
    return (value instanceof Map ? value.size : (value as readonly unknown[]).length) > 0;
  return value !== '' && value !== 0 && value !== false;
}

function recordsOf(list: TemplateValue): readonly TemplateRecord[] {
  if (list instanceof Map)
    return [...(list as ReadonlyMap<string, string>)].map(([key, value]) => ({ key, value }));
  return (list as readonly (string | TemplateRecord)[]).map((each) =>
    typeof each === 'string' ? { value: each } : each,
  );
}
