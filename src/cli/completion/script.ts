// Completion scripts for bash, zsh and fish, written from the words of the program (words.ts). They hold all commands, flags
// and values, so that pressing Tab starts no process; only names of machines, clusters, Needs, providers and freezes are
// asked of the shard, with a short timeout.

import { type CommandWords, KIND_WORDS } from './words.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(shell: Shell, words: readonly CommandWords[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(words);
    case 'zsh':
      return `#compdef bigfleet\n# Completion of bigfleet for zsh, through its emulation of bash.\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(words)}`;
    case 'fish':
      return fishScript(words);
  }
}

/** Choices are words of the program: without quotes and spaces. */
function bashScript(words: readonly CommandWords[]): string {
  return `# Completion of bigfleet for bash: source <(bigfleet completion bash)
_bigfleet_words() {
  case "$1" in
${words.map((each) => `    '${each.path}') echo '${[...each.commands, ...each.values].join(' ')}' ;;`).join('\n')}
  esac
}

_bigfleet_flags() {
  case "$1" in
${words.map((each) => `    '${each.path}') echo '${each.flags.flatMap(({ names }) => names).join(' ')}' ;;`).join('\n')}
  esac
}

# Values of a flag; "-" for one without a value, "@" for any text, "/" for a file.
_bigfleet_values() {
  case "$1 $2" in
${words.flatMap(valueCases).join('\n')}
    *) echo '-' ;;
  esac
}

# What the first argument of a command names.
_bigfleet_names() {
  case "$1" in
${words.flatMap(({ path, names }) => (names === null ? [] : [`    '${path}') echo '${names}' ;;`])).join('\n')}
  esac
}

# What the second argument of a command names, by the first one.
_bigfleet_named_by() {
  case "$1 $2" in
${words.flatMap(kindCases).join('\n')}
  esac
}

_bigfleet() {
  # No variable named path: in zsh that is the search path.
  local place='' word i kind values current previous typed=() arguments=()
  COMPREPLY=()
  # Not COMP_WORDS: bash divides words at colons, which ids of freezes have.
  current="\${COMP_LINE:0:$COMP_POINT}"
  while [[ "$current" == *[[:space:]]* ]]; do
    word="\${current%%[[:space:]]*}"
    [[ -z "$word" ]] || typed+=("$word")
    current="\${current#*[[:space:]]}"
  done
  typed+=("$current")
  previous="\${typed[\${#typed[@]}-2]}"
  for ((i = 1; i < \${#typed[@]} - 1; i++)); do
    word="\${typed[i]}"
    if [[ "$word" == -*=* ]]; then
      continue
    elif [[ "$word" == -* ]]; then
      values="$(_bigfleet_values "$place" "$word")"
      [[ "$values" == - ]] || ((i++))
    elif [[ \${#arguments[@]} -eq 0 && " $(_bigfleet_commands "$place") " == *" $word "* ]]; then
      place="\${place:+$place }$word"
    else
      arguments+=("$word")
    fi
  done
  if [[ "$previous" == -* && "$previous" != *=* && "$current" != -* ]]; then
    values="$(_bigfleet_values "$place" "$previous")"
    case "$values" in
      -) ;;
      /) COMPREPLY=($(compgen -f -- "$current")); return ;;
      @) return ;;
      *) COMPREPLY=($(compgen -W "$values" -- "$current")); return ;;
    esac
  fi
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$(_bigfleet_flags "$place")" -- "$current"))
    return
  fi
  case \${#arguments[@]} in
    0) kind="$(_bigfleet_names "$place")"; values="$(_bigfleet_words "$place")" ;;
    1) kind="$(_bigfleet_named_by "$place" "\${arguments[0]}")"; values='' ;;
    *) return ;;
  esac
  [[ -z "$kind" ]] || values="$values $("\${typed[0]}" completion names "$kind" 2>/dev/null)"
  COMPREPLY=($(compgen -W "$values" -- "$current"))
  # What Tab replaces begins after the last colon.
  if [[ "$current" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then
    word="\${current%"\${current##*:}"}"
    for ((i = 0; i < \${#COMPREPLY[@]}; i++)); do COMPREPLY[i]="\${COMPREPLY[i]#"$word"}"; done
  fi
}

# Commands with their short names.
_bigfleet_commands() {
  case "$1" in
${childCases(words).join('\n')}
  esac
}

complete -o default -F _bigfleet bigfleet
`;
}

function valueCases({ path, flags }: CommandWords): readonly string[] {
  return flags.flatMap(({ names, values, isFile }) => {
    if (values === null) return [];
    const shown = values.length > 0 ? values.join(' ') : isFile ? '/' : '@';
    return names.map((name) => `    '${path} ${name}') echo '${shown}' ;;`);
  });
}

function kindCases({ path, kinds }: CommandWords): readonly string[] {
  return kinds.map((kind) => {
    const patterns = KIND_WORDS[kind].map((word) => `'${path} ${word}'`).join('|');
    return `    ${patterns}) echo '${kind}' ;;`;
  });
}

function childCases(words: readonly CommandWords[]): readonly string[] {
  const paths = words.map(({ path }) => path).filter((path) => path !== '');
  const parents = Map.groupBy(paths, (path) => path.slice(0, Math.max(0, path.lastIndexOf(' '))));
  return [...parents].map(
    ([parent, children]) =>
      `    '${parent}') echo '${children.map((path) => path.slice(path.lastIndexOf(' ') + 1)).join(' ')}' ;;`,
  );
}

function fishScript(words: readonly CommandWords[]): string {
  const paths = words.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`]));
  const valued = words.flatMap(({ path, flags }) =>
    flags.flatMap(({ names, values }) => (values === null ? [] : names.map((name) => `'${path} ${name}'`))),
  );
  return `# Completion of bigfleet for fish: bigfleet completion fish | source
set -g __bigfleet_paths ${paths.join(' ')}
# Flags that are followed by a value.
set -g __bigfleet_valued ${valued.join(' ')}

# The path of the command that was typed, then its arguments, one on a line.
function __bigfleet_typed
  set -l path ''
  set -l arguments
  set -l is_value 0
  for word in (commandline -opc)[2..]
    if test $is_value = 1
      set is_value 0
    else if string match -q -- '-*=*' $word
      continue
    else if string match -q -- '-*' $word
      contains -- "$path $word" $__bigfleet_valued; and set is_value 1
    else if test (count $arguments) = 0; and contains -- (string trim -- "$path $word") $__bigfleet_paths
      set path (string trim -- "$path $word")
    else
      set -a arguments $word
    end
  end
  printf '%s\\n' "$path" $arguments
end

# Whether the command is PATH, and, if a number is given, whether it has as many arguments already.
function __bigfleet_at
  set -l typed (__bigfleet_typed)
  test "$typed[1]" = "$argv[1]"; or return 1
  test (count $argv) = 1; or test (count $typed) = (math $argv[2] + 1)
end

# Whether the command is PATH with one argument, which is among the words that follow.
function __bigfleet_after
  set -l typed (__bigfleet_typed)
  test "$typed[1]" = "$argv[1]"; and test (count $typed) = 2; and contains -- "$typed[2]" $argv[2..]
end

function __bigfleet_names
  bigfleet completion names $argv[1] 2>/dev/null
end

complete -c bigfleet -f
${words.flatMap(fishLines).join('\n')}
`;
}

function fishLines({ path, commands, values, flags, names, kinds }: CommandWords): readonly string[] {
  const line = (test: string, rest: string): string => `complete -c bigfleet -n '${test}' ${rest}`;
  const first = `__bigfleet_at "${path}" 0`;
  const own = [...commands, ...values];
  return [
    ...(own.length === 0 ? [] : [line(first, `-f -a '${own.join(' ')}'`)]),
    ...(names === null ? [] : [line(first, `-f -a '(__bigfleet_names ${names})'`)]),
    ...kinds.map((kind) =>
      line(`__bigfleet_after "${path}" ${KIND_WORDS[kind].join(' ')}`, `-f -a '(__bigfleet_names ${kind})'`),
    ),
    ...flags.map((flag) => line(`__bigfleet_at "${path}"`, `${fishFlag(flag)}`)),
  ];
}

function fishFlag({ names, values, isFile }: CommandWords['flags'][number]): string {
  const parts = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  if (values === null) return parts.join(' ');
  const value = values.length > 0 ? `-x -a '${values.join(' ')}'` : isFile ? '-r -F' : '-x';
  return `${parts.join(' ')} ${value}`;
}
