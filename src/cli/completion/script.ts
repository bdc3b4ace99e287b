// Completion scripts for bash, zsh and fish, written from the words of the program (words.ts). They hold all commands, flags
// and values, so that pressing Tab starts no process; only names of machines, clusters, Needs and providers are asked of
// the shard, with a short timeout.

import type { CommandWords } from './words.ts';

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

# What the argument of a command names.
_bigfleet_names() {
  case "$1" in
${words.flatMap(({ path, names }) => (names === null ? [] : [`    '${path}') echo '${names}' ;;`])).join('\n')}
  esac
}

_bigfleet() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local path='' word i values arguments=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ "$word" == -* ]]; then
      values="$(_bigfleet_values "$path" "$word")"
      [[ "$values" == - ]] || ((i++))
    elif [[ \${#arguments[@]} -eq 0 && " $(_bigfleet_commands "$path") " == *" $word "* ]]; then
      path="\${path:+$path }$word"
    else
      arguments+=("$word")
    fi
  done
  if [[ "$previous" == -* && "$current" != -* ]]; then
    values="$(_bigfleet_values "$path" "$previous")"
    case "$values" in
      -) ;;
      /) COMPREPLY=($(compgen -f -- "$current")); return ;;
      @) return ;;
      *) COMPREPLY=($(compgen -W "$values" -- "$current")); return ;;
    esac
  fi
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$(_bigfleet_flags "$path")" -- "$current"))
    return
  fi
  local kind="$(_bigfleet_names "$path")"
  if [[ -z "$kind" && \${#arguments[@]} -eq 1 ]]; then
    case "\${arguments[0]}" in
      machine|cluster|need|provider) kind="\${arguments[0]}s" ;;
    esac
    COMPREPLY=($(compgen -W "$(_bigfleet_asked "$kind")" -- "$current"))
    return
  fi
  if [[ -n "$kind" && \${#arguments[@]} -eq 0 ]]; then
    COMPREPLY=($(compgen -W "$(_bigfleet_asked "$kind")" -- "$current"))
    return
  fi
  [[ \${#arguments[@]} -gt 0 ]] || COMPREPLY=($(compgen -W "$(_bigfleet_words "$path")" -- "$current"))
}

# Commands with their short names.
_bigfleet_commands() {
  case "$1" in
${childCases(words).join('\n')}
  esac
}

_bigfleet_asked() {
  [[ -z "$1" ]] || "\${COMP_WORDS[0]}" completion names "$1" 2>/dev/null
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

function childCases(words: readonly CommandWords[]): readonly string[] {
  const paths = words.map(({ path }) => path).filter((path) => path !== '');
  const parents = Map.groupBy(paths, (path) => path.slice(0, Math.max(0, path.lastIndexOf(' '))));
  return [...parents].map(
    ([parent, children]) =>
      `    '${parent}') echo '${children.map((path) => path.slice(path.lastIndexOf(' ') + 1)).join(' ')}' ;;`,
  );
}

function fishScript(words: readonly CommandWords[]): string {
  const lines = words.flatMap(({ path, commands, values, flags, names }) => {
    const test = `-n '__bigfleet_at "${path}"'`;
    const asked =
      names === null
        ? []
        : [`complete -c bigfleet ${test} -f -a '(bigfleet completion names ${names} 2>/dev/null)'`];
    const own = [...commands, ...values];
    return [
      ...(own.length === 0 ? [] : [`complete -c bigfleet ${test} -f -a '${own.join(' ')}'`]),
      ...asked,
      ...flags.map((flag) => {
        const parts = flag.names.map((name) =>
          name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
        );
        const value =
          flag.values === null
            ? ''
            : flag.values.length > 0
              ? ` -x -a '${flag.values.join(' ')}'`
              : flag.isFile
                ? ' -r'
                : ' -x';
        return `complete -c bigfleet ${test} ${parts.join(' ')}${value}`;
      }),
    ];
  });
  return `# Completion of bigfleet for fish: bigfleet completion fish | source
function __bigfleet_at
  set -l path
  for word in (commandline -opc)[2..]
    string match -q -- '-*' $word; or set -a path $word
  end
  test "$path" = "$argv[1]"
end

complete -c bigfleet -f
${lines.join('\n')}
`;
}
