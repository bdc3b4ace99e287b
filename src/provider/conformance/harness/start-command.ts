// Start commands without their state file, which targets.ts uses for the scale target: how quick a provider is should
// not depend on how it writes a file of thousands of machines at every call. The rules are those of a POSIX shell as
// far as words go:
//
//   --state={state}        the word is removed
//   --state {state}        both words are removed
//   STATE={state} cmd      the value is removed, the name stays
//   cmd {port} {state}     becomes an empty word, so that the words after it keep their places
//   sh -c 'cmd {port} …'   the quoted command is treated in the same way

interface Word {
  readonly from: number;
  readonly to: number;
  /** As written, with its quotes. */
  readonly text: string;
  /** The operator before it, such as ";" or ">"; '' where another word or nothing is. */
  readonly operator: string;
}

const STATE = '{state}';
const OTHERS = ['{port}', '{seed}', '{timeout}'];
const ASSIGNMENT = /^[A-Za-z_]\w*=/;
/** A flag whose value, if it has one, is the next word. */
const FLAG = /^--?[A-Za-z][\w.-]*$/;
const QUOTED = /^(['"])(.*)\1$/s;

/** The command without the words that name the state file; null if they cannot be separated from the rest. */
export function withoutState(command: string, empty = "''"): string | null {
  const words = wordsOf(command);
  let kept = '';
  let end = 0;
  for (const [i, word] of words.entries()) {
    if (!word.text.includes(STATE)) continue;
    const flag = word.operator === '' && i > 0 && FLAG.test(words[i - 1]!.text) ? words[i - 1] : undefined;
    const instead = insteadOf(word, flag !== undefined, empty);
    if (instead === null) return null;
    const from = instead === '' && flag !== undefined && !isFlag(word) ? flag.from : word.from;
    kept += command.slice(end, from) + instead;
    end = word.to;
  }
  return kept + command.slice(end);
}

/** The replacement of a word that names the state file; null if there is none. */
function insteadOf(word: Word, hasFlag: boolean, empty: string): string | null {
  const { text, operator } = word;
  if (OTHERS.some((place) => text.includes(place))) {
    const [, quote, inner] = QUOTED.exec(text) ?? [];
    if (quote === undefined || inner === undefined) return null;
    const within = withoutState(inner, quote === "'" ? '""' : "''");
    return within === null ? null : quote + within + quote;
  }
  // The shell itself opens this file: it is not an argument of the provider that could be omitted.
  if (operator.includes('<') || operator.includes('>')) return null;
  const assignment = ASSIGNMENT.exec(text);
  if (assignment !== null) return assignment[0];
  return isFlag(word) || hasFlag ? '' : empty;
}

function isFlag({ text }: Word): boolean {
  return /^['"]?-/.test(text);
}

function wordsOf(command: string): readonly Word[] {
  const words: Word[] = [];
  let operator = '';
  let at = 0;
  while (at < command.length) {
    const rest = command.slice(at);
    const gap = /^(?:[ \t]|\\\n)+/.exec(rest)?.[0] ?? '';
    const comment = /^#[^\n]*/.exec(rest)?.[0] ?? '';
    const sign = /^[\n;&|()<>]+/.exec(rest)?.[0] ?? '';
    if (gap !== '' || comment !== '' || sign !== '') {
      operator += sign;
      at += gap.length + comment.length + sign.length;
      continue;
    }
    const text = WORD.exec(rest)?.[0] ?? rest;
    words.push({ from: at, to: at + text.length, text, operator });
    operator = '';
    at += text.length;
  }
  return words;
}

/** Plain characters, escaped ones, and strings in quotes, up to the next gap or operator. */
const WORD = /^(?:\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|[^\s;&|()<>'"\\])+/;
