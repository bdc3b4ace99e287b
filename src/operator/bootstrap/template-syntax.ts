// The syntax tree of a bootstrap template, and its parser. The language is small on purpose: text with `{{ … }}` tags for
// values, conditions and loops, and no way to run code. docs/operate/operator.md describes it for users. Checked and
// rendered by template.ts.
//
//   tag        = "{{" ( expression | "#if" expression | "#each" expression | "else" | "/if" | "/each" | "!" comment ) "}}"
//   expression = operand | name operand+
//   operand    = name | string | number | "(" expression ")"

/** Where something is in the template; both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export type Expression =
  | { readonly kind: 'text'; readonly value: string; readonly at: Position }
  | { readonly kind: 'number'; readonly value: number; readonly at: Position }
  | { readonly kind: 'name'; readonly name: string; readonly at: Position }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly args: readonly Expression[];
      readonly at: Position;
    };

export type TemplateNode =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'value'; readonly value: Expression }
  | {
      readonly kind: 'if';
      readonly condition: Expression;
      readonly body: readonly TemplateNode[];
      readonly otherwise: readonly TemplateNode[];
    }
  | {
      readonly kind: 'each';
      readonly list: Expression;
      readonly body: readonly TemplateNode[];
      readonly at: Position;
    };

/** A template that cannot be used; the message begins with line and column. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  readonly at: Position;

  constructor(message: string, at: Position) {
    super(`line ${at.line}, column ${at.column}: ${message}`);
    this.at = at;
  }
}

/** Bytes of a template; instance metadata services limit user data to 16 to 64 KiB. */
const MAX_TEMPLATE_BYTES = 256 * 1024;
/** Blocks within blocks, and parentheses within parentheses. */
const MAX_DEPTH = 16;

/** Throws a `TemplateError`. */
export function parseTemplate(source: string): readonly TemplateNode[] {
  if (Buffer.byteLength(source) > MAX_TEMPLATE_BYTES)
    throw new TemplateError(`the template has more than ${MAX_TEMPLATE_BYTES} bytes`, { line: 1, column: 1 });
  return new TemplateParser(source).parse();
}

interface Tag {
  /** Without the braces. */
  readonly body: string;
  /** Offset of the body. */
  readonly start: number;
  readonly at: Position;
  /** Offsets of the whole tag, with the blank rest of its line if the tag is alone on it. */
  readonly from: number;
  readonly to: number;
}

type BlockKind = 'if' | 'each';

class TemplateParser {
  readonly #source: string;
  readonly #lineStarts: number[] = [0];
  #offset = 0;

  constructor(source: string) {
    this.#source = source;
    for (let i = source.indexOf('\n'); i >= 0; i = source.indexOf('\n', i + 1)) this.#lineStarts.push(i + 1);
  }

  parse(): readonly TemplateNode[] {
    const { nodes, end } = this.#nodes(0);
    if (end === null) return nodes;
    throw new TemplateError(`{{${end.body.trim()}}} closes nothing`, end.at);
  }

  /** Nodes up to a tag that ends a block, or to the end of the template (`end` is null). */
  #nodes(depth: number): { nodes: TemplateNode[]; end: Tag | null } {
    const nodes: TemplateNode[] = [];
    for (;;) {
      const tag = this.#nextTag();
      const text = this.#source.slice(this.#offset, tag?.from);
      if (text !== '') nodes.push({ kind: 'literal', text });
      if (tag === null) return { nodes, end: null };
      this.#offset = tag.to;
      const word = tag.body.trim();
      if (word.startsWith('!')) continue;
      if (word.startsWith('/') || word === 'else') return { nodes, end: tag };
      nodes.push(
        word.startsWith('#') ? this.#block(tag, depth + 1) : { kind: 'value', value: this.#expression(tag) },
      );
    }
  }

  #block(tag: Tag, depth: number): TemplateNode {
    const [, kind] = /^\s*#\s*(if|each)\b/.exec(tag.body) ?? [];
    if (kind === undefined) throw new TemplateError('expected #if or #each', tag.at);
    if (depth > MAX_DEPTH) throw new TemplateError(`more than ${MAX_DEPTH} blocks within each other`, tag.at);
    const head = this.#expression(tag, tag.body.indexOf(kind) + kind.length);
    const first = this.#nodes(depth);
    let otherwise: readonly TemplateNode[] = [];
    let { end } = first;
    if (kind === 'if' && end?.body.trim() === 'else') {
      const second = this.#nodes(depth);
      otherwise = second.nodes;
      end = second.end;
    }
    this.#expectEnd(kind as BlockKind, end, tag);
    return kind === 'if'
      ? { kind, condition: head, body: first.nodes, otherwise }
      : { kind: 'each', list: head, body: first.nodes, at: tag.at };
  }

  #expectEnd(kind: BlockKind, end: Tag | null, tag: Tag): void {
    if (end === null) throw new TemplateError(`{{#${kind}}} is not closed by {{/${kind}}}`, tag.at);
    const word = end.body.trim();
    if (word !== `/${kind}`)
      throw new TemplateError(
        `expected {{/${kind}}} for the block of line ${tag.at.line}, found {{${word}}}`,
        end.at,
      );
  }

  #nextTag(): Tag | null {
    const open = this.#source.indexOf('{{', this.#offset);
    if (open < 0) return null;
    const close = this.#closing(open + 2);
    if (close < 0) throw new TemplateError('{{ is not closed by }}', this.#position(open));
    const body = this.#source.slice(open + 2, close);
    const tag = { body, start: open + 2, at: this.#position(open), from: open, to: close + 2 };
    return /^\s*([#/!]|else\s*$)/.test(body) ? { ...tag, ...this.#wholeLine(tag) } : tag;
  }

  /** The next `}}` outside quotes. A comment has no quotes. */
  #closing(from: number): number {
    if (/^\s*!/.test(this.#source.slice(from, from + 100))) return this.#source.indexOf('}}', from);
    const rest = /(?:"(?:[^"\\\n]|\\.)*"|[^"}]|\}(?!\}))*/y;
    rest.lastIndex = from;
    rest.exec(this.#source);
    return this.#source.startsWith('}}', rest.lastIndex) && rest.lastIndex > 0 ? rest.lastIndex : -1;
  }

  /** A block or comment tag alone on its line removes the line, so that templates can be indented. */
  #wholeLine({ from, to }: Tag): { from: number; to: number } {
    const lineStart = this.#source.lastIndexOf('\n', from - 1) + 1;
    const blankAfter = /[ \t]*(\r?\n|$)/y;
    blankAfter.lastIndex = to;
    const after = blankAfter.exec(this.#source);
    const isAlone = this.#offset <= lineStart && /^[ \t]*$/.test(this.#source.slice(lineStart, from));
    return isAlone && after !== null ? { from: lineStart, to: to + after[0].length } : { from, to };
  }

  #expression(tag: Tag, skip = 0): Expression {
    const tokens = this.#tokens(tag, skip);
    const reader = { tokens, next: 0 };
    const expression = parseExpression(reader, tag.at, 0);
    const left = tokens[reader.next];
    if (left !== undefined) throw new TemplateError(`unexpected ${left.text}`, left.at);
    return expression;
  }

  #tokens({ body, start }: Tag, skip: number): Token[] {
    const tokens: Token[] = [];
    const pattern = /\s*(?:("(?:[^"\\]|\\.)*")|([A-Za-z][A-Za-z0-9]*)|(\d{1,6})(?![\w.])|([()])|(\S))/y;
    pattern.lastIndex = skip;
    for (let match = pattern.exec(body); match !== null; match = pattern.exec(body)) {
      const [whole, text, name, number, paren, other] = match;
      const token = text ?? name ?? number ?? paren ?? other ?? '';
      const at = this.#position(start + match.index + whole.length - token.length);
      if (other !== undefined) throw new TemplateError(`unexpected ${JSON.stringify(other)}`, at);
      const kind =
        text !== undefined ? 'text' : name !== undefined ? 'name' : number !== undefined ? 'number' : 'paren';
      tokens.push({ kind, text: token, at });
    }
    return tokens;
  }

  #position(offset: number): Position {
    let [low, high] = [0, this.#lineStarts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#lineStarts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - this.#lineStarts[low]! + 1 };
  }
}

interface Token {
  readonly kind: 'text' | 'name' | 'number' | 'paren';
  readonly text: string;
  readonly at: Position;
}

interface TokenReader {
  readonly tokens: readonly Token[];
  next: number;
}

function parseExpression(reader: TokenReader, at: Position, depth: number): Expression {
  if (depth > MAX_DEPTH) throw new TemplateError(`more than ${MAX_DEPTH} parentheses within each other`, at);
  const first = reader.tokens[reader.next];
  if (first === undefined || first.text === ')') throw new TemplateError('expected a name', first?.at ?? at);
  if (first.kind !== 'name') return parseOperand(reader, at, depth);
  reader.next++;
  const args: Expression[] = [];
  while (reader.tokens[reader.next] !== undefined && reader.tokens[reader.next]!.text !== ')')
    args.push(parseOperand(reader, at, depth));
  return args.length === 0
    ? { kind: 'name', name: first.text, at: first.at }
    : { kind: 'call', name: first.text, args, at: first.at };
}

function parseOperand(reader: TokenReader, at: Position, depth: number): Expression {
  const token = reader.tokens[reader.next++]!;
  if (token.kind === 'name') return { kind: 'name', name: token.text, at: token.at };
  if (token.kind === 'number') return { kind: 'number', value: Number(token.text), at: token.at };
  if (token.kind === 'text') return { kind: 'text', value: unquoted(token), at: token.at };
  if (token.text === ')') throw new TemplateError('unexpected )', token.at);
  const inner = parseExpression(reader, at, depth + 1);
  const close = reader.tokens[reader.next++];
  if (close?.text !== ')') throw new TemplateError('( is not closed by )', token.at);
  return inner;
}

/** Texts have the escapes of JSON. */
function unquoted({ text, at }: Token): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    throw new TemplateError(`${text} is not a text; escapes are those of JSON`, at);
  }
}
