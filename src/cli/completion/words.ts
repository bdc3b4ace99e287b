// What can follow the words of a command line: commands, flags, and values of arguments and flags, as the program itself
// declares them. Used by the scripts of script.ts and by the hidden command that they call for names.

import type { Argument, Command, Option } from 'commander';

/** The words that may come next, for a shell. */
export interface CommandWords {
  /** Names from the top level, such as `get machines`; '' for the program. */
  readonly path: string;
  readonly commands: readonly string[];
  readonly flags: readonly FlagWords[];
  /** Values of the first argument. */
  readonly values: readonly string[];
  /** The first argument names one of these; null: none of them. */
  readonly names: NamedKind | null;
  /** Kinds that the first argument can be, of which the second one is a name. */
  readonly kinds: readonly NamedKind[];
}

/** Lists of a shard whose names are completed. */
export type NamedKind = 'machines' | 'clusters' | 'needs' | 'providers' | 'freezes';

/** What a kind is called on a command line. */
export const KIND_WORDS: Readonly<Record<NamedKind, readonly string[]>> = {
  machines: ['machine', 'machines', 'mc'],
  clusters: ['cluster', 'clusters', 'cl'],
  needs: ['need', 'needs', 'nd'],
  providers: ['provider', 'providers', 'pv'],
  freezes: ['freeze', 'freezes', 'fz'],
};

interface FlagWords {
  readonly names: readonly string[];
  /** null: it takes no value; []: any text. */
  readonly values: readonly string[] | null;
  readonly isFile: boolean;
}

/** Every command with its aliases as commands of their own. */
export function commandWords(program: Command): readonly CommandWords[] {
  return wordsBelow(program, '');
}

function wordsBelow(command: Command, path: string): readonly CommandWords[] {
  const children = visible(command.commands);
  const values = command.registeredArguments[0]?.argChoices ?? kindsIn(path);
  const own: CommandWords = {
    path,
    commands: children.map((child) => child.name()),
    flags: [...visible(command.options).map(flagWords), HELP],
    values,
    names: namesIn(path, command.registeredArguments),
    kinds: command.registeredArguments.length < 2 ? [] : values.flatMap((word) => kindOf(word) ?? []),
  };
  const below = children.flatMap((child) =>
    [child.name(), ...child.aliases()].flatMap((name) => wordsBelow(child, `${path} ${name}`.trim())),
  );
  return [own, ...below];
}

const HELP: FlagWords = { names: ['-h', '--help'], values: null, isFile: false };

function visible<T extends Command | Option>(items: readonly T[]): readonly T[] {
  return items.filter((item) => !('hidden' in item && item.hidden === true));
}

function flagWords(option: Option): FlagWords {
  const names = [option.short, option.long].flatMap((name) => (name == null ? [] : [name]));
  const takesValue = option.required || option.optional;
  const isFile = /<(file|path|folder|dir)>/.test(option.flags);
  return { names, values: takesValue ? (option.argChoices ?? []) : null, isFile };
}

/** Words that commands accept first and that commander does not know as choices. */
function kindsIn(path: string): readonly string[] {
  if (path === 'describe') return ['machine', 'need', 'cluster', 'provider', 'cycle'];
  return path === 'explain' ? ['machine', 'cluster', 'pod'] : [];
}

/** What the argument of a command names, by its placeholder. */
function namesIn(path: string, [first]: readonly Argument[]): NamedKind | null {
  if (path === 'unfreeze') return 'freezes';
  return kindOf(path.startsWith('get ') ? path.slice('get '.length) : (first?.name() ?? ''));
}

function kindOf(word: string): NamedKind | null {
  const found = Object.entries(KIND_WORDS).find(([, words]) => words.includes(word));
  return found === undefined ? null : (found[0] as NamedKind);
}
