/** `weir completion SHELL`: a completion script for a shell, generated from the command table. */
import { type Command, type Completion, type Flag, GLOBAL_FLAGS, UsageError } from "./command.ts";
import { didYouMean } from "../core/suggest.ts";

/** @param commands the command table; a function, because the table contains this command too */
export function completionCommand(commands: () => readonly Command[]): Command {
  const shells = Object.keys(SCRIPTS);
  return {
    name: "completion",
    summary: "print a completion script: source <(weir completion bash)",
    words: [{ name: "SHELL", completes: shells }],
    flags: [],
    async run({ words: [shell = ""], print }) {
      if (!isShell(shell))
        throw new UsageError(
          `no completion script for ${shell}${didYouMean(shell, shells) || `; the supported shells are ${shells.join(", ")}`}`,
        );
      print(completionScript(shell, commands()).trimEnd());
      return 0;
    },
  };
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript, powershell: powershellScript };

type Shell = keyof typeof SCRIPTS;

function isShell(name: string): name is Shell {
  return Object.hasOwn(SCRIPTS, name);
}

/** The completion script of a shell, as a text with a newline at its end. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return SCRIPTS[shell](commands);
}

/** Offers of the shell after certain words of the command line. */
interface Position {
  /** The positional words so far. `more`: any further words follow them. */
  after: string;
  more: boolean;
  /** Words to offer, each with its help. */
  words: readonly (readonly [word: string, help: string])[];
  paths?: "file" | "folder";
  flags: readonly Flag[];
}

function positionsOf(commands: readonly Command[]): Position[] {
  const groups = groupsOf(commands);
  const names = new Set(commands.map(({ name }) => name));
  return [
    { ...groupPosition("", commands), flags: commands[0] ? flagsOf(commands[0]) : GLOBAL_FLAGS },
    ...groups.filter((group) => !names.has(group)).map((group) => groupPosition(group, commands)),
    ...commands.flatMap((command) => {
      const { name, words } = command;
      const offer = offerOf(words[0]?.completes);
      // `audit` is a command, and the beginning of `audit log`. A shell knows each position once.
      const further = groups.includes(name) ? groupPosition(name, commands).words : [];
      const flags = flagsOf(command);
      return [
        { after: name, more: false, ...offer, words: [...further, ...offer.words], flags },
        { after: name, more: true, words: [], flags },
      ];
    }),
  ];
}

/** The beginnings of names of several words: `plugin`, `admin`, `admin key`. */
function groupsOf(commands: readonly Command[]): string[] {
  const beginnings = commands.flatMap(({ name }) => {
    const words = name.split(" ");
    return words.slice(1).map((_, at) => words.slice(0, at + 1).join(" "));
  });
  return [...new Set(beginnings)];
}

/** Continuations of a name: the last words of commands, and the names of further groups. */
function groupPosition(group: string, commands: readonly Command[]): Position {
  const members = membersOf(group, commands).map((command) => {
    const rest = wordsAfter(group, command);
    const deeper = [group, rest[0]].filter(Boolean).join(" ");
    const listed = membersOf(deeper, commands).map((member) => wordsAfter(deeper, member)[0]!);
    const help = rest.length === 1 ? command.summary : [...new Set(listed)].join(", ");
    return [rest[0]!, help] as const;
  });
  return { after: group, more: false, words: [...new Map(members)], flags: GLOBAL_FLAGS };
}

function membersOf(group: string, commands: readonly Command[]): Command[] {
  return group === "" ? [...commands] : commands.filter(({ name }) => name.startsWith(`${group} `));
}

function wordsAfter(group: string, { name }: Command): string[] {
  return name.slice(group === "" ? 0 : group.length + 1).split(" ");
}

function flagsOf(command: Command): Flag[] {
  return [...command.flags, ...GLOBAL_FLAGS];
}

function offerOf(completes: Completion | undefined): Pick<Position, "words" | "paths"> {
  if (typeof completes === "string") return { words: [], paths: completes };
  return { words: (completes ?? []).map((word) => [word, ""] as const) };
}

/** All flags that take a value, without duplicates. */
function valued(commands: readonly Command[]): Flag[] {
  const flags = commands.flatMap((command) => command.flags).filter(({ value }) => value !== undefined);
  return [...new Map(flags.map((flag) => [flag.name, flag])).values()];
}

/** Also works in bash 3.2 (macOS), and without the bash-completion package. */
function bashScript(commands: readonly Command[]): string {
  const values = valued(commands);
  const paths = { file: "_weir_paths -f", folder: "_weir_paths -d" };
  const offer = (completes: Completion | undefined) =>
    typeof completes === "string" ? paths[completes] : `_weir_words ${quote((completes ?? []).join(" "))}`;
  const rows = positionsOf(commands).map(({ after, more, words, paths: kind, flags }) => {
    const offered = [...words.map(([word]) => word), ...flags.map(({ name }) => name)].join(" ");
    const both = `_weir_words ${quote(offered)}${kind ? `; ${paths[kind]}` : ""}`;
    return `    ${quote(after)}${more ? "' '*" : ""}) ${both} ;;`;
  });
  return `# Completion of weir for bash: source <(weir completion bash)
_weir_words() { COMPREPLY+=($(compgen -W "$1" -- "$cur")); }
_weir_paths() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY+=($(compgen "$1" -- "$cur"))
}
_weir() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" words="" i
  COMPREPLY=()
  if [[ $cur == "=" ]]; then cur=""; elif [[ $prev == "=" ]]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  case "$prev" in
${values.map(({ name, completes }) => `    ${name}) ${offer(completes)}; return ;;`).join("\n")}
  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      ${values.map(({ name }) => name).join("|")}) ((i++)); [[ "\${COMP_WORDS[i]}" == "=" ]] && ((i++)) ;;
      -*) ;;
      *) words="\${words:+$words }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$words" in
${rows.join("\n")}
  esac
}
complete -F _weir weir
`;
}

function zshScript(commands: readonly Command[]): string {
  const values = valued(commands);
  const paths = { file: "_files", folder: "_files -/" };
  const offer = (completes: Completion | undefined) =>
    typeof completes === "string"
      ? paths[completes]
      : completes
        ? `compadd -- ${completes.map(quote).join(" ")}`
        : ":";
  const entry = (word: string, help: string) => quote(`${word.replaceAll(":", "\\:")}:${help}`);
  const rows = positionsOf(commands).map(({ after, more, words, paths: kind, flags }) => {
    const offered = [
      words.length > 0 && `offer=(${words.map(([word, help]) => entry(word, help)).join(" ")})`,
      `flags=(${flags.map(({ name, help }) => entry(name, help)).join(" ")})`,
      kind && paths[kind],
    ];
    return `    ${quote(after)}${more ? "' '*" : ""}) ${offered.filter(Boolean).join("; ")} ;;`;
  });
  return `#compdef weir
# Completion of weir for zsh: source <(weir completion zsh), or a file named _weir in a folder of $fpath
_weir() {
  local -a offer flags
  local given=""
  integer i
  case "\${words[CURRENT-1]}" in
${values.map(({ name, completes }) => `    ${name}) ${offer(completes)}; return ;;`).join("\n")}
  esac
  for ((i = 2; i < CURRENT; i++)); do
    case "\${words[i]}" in
      ${values.map(({ name }) => name).join("|")}) ((i++)) ;;
      -*) ;;
      *) given="\${given:+$given }\${words[i]}" ;;
    esac
  done
  case "$given" in
${rows.join("\n")}
  esac
  (( $#offer )) && _describe word offer
  [[ "\${words[CURRENT]}" == -* || $#offer -eq 0 ]] && _describe -o flag flags
}
if [[ "\${funcstack[1]}" == "_weir" ]]; then _weir; else compdef _weir weir; fi
`;
}

function fishScript(commands: readonly Command[]): string {
  const values = valued(commands);
  const rows = positionsOf(commands).flatMap(({ after, more, words, paths, flags }) => {
    const at = `complete -c weir -n ${quote(`__weir_after ${quote(more ? `${after} *` : after)}`)}`;
    return [
      ...words.map(([word, help]) => `${at} -a ${quote(word)}${help && ` -d ${quote(help)}`}`),
      ...(paths ? [`${at} -F`] : []),
      ...flags.map(({ name, short, value, help, completes }) =>
        [
          `${at} -l ${name.slice(2)}`,
          short && `-s ${short.slice(1)}`,
          value && (typeof completes === "string" ? "-r -F" : "-x"),
          typeof completes === "object" && `-a ${quote(completes.join(" "))}`,
          `-d ${quote(help)}`,
        ]
          .filter(Boolean)
          .join(" "),
      ),
    ];
  });
  return `# Completion of weir for fish: weir completion fish > ~/.config/fish/completions/weir.fish
function __weir_after
    set -l given
    set -l is_value no
    for word in (commandline -opc)[2..-1]
        if test $is_value = yes
            set is_value no
            continue
        end
        switch $word
            case ${values.map(({ name }) => name).join(" ")}
                set is_value yes
            case '-*'
            case '*'
                set -a given $word
        end
    end
    string match -q -- $argv[1] "$given"
end
complete -c weir -f
${rows.join("\n")}
`;
}

/** For Windows PowerShell 5.1 and PowerShell 7. */
function powershellScript(commands: readonly Command[]): string {
  const list = (words: readonly string[]) => `@(${words.map(quotePowershell).join(", ")})`;
  const values = valued(commands).map(({ name, completes }) => {
    const words = typeof completes === "object" ? list(completes) : "$null";
    return `    ${quotePowershell(name)} = ${words}`;
  });
  const rows = positionsOf(commands).map(({ after, more, words, paths, flags }) => {
    const offered = words.map(([word]) => word);
    const members = [
      `Words = ${list(offered)}`,
      `Flags = ${list(flags.map(({ name }) => name))}`,
      `Paths = ${paths ? "$true" : "$false"}`,
    ];
    return `    ${quotePowershell(more ? `${after} *` : after)} = @{ ${members.join("; ")} }`;
  });
  return `# Completion of weir for PowerShell: weir completion powershell | Out-String | Invoke-Expression
# The same line in the file $PROFILE makes it permanent.
Register-ArgumentCompleter -Native -CommandName weir -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  # Flags with values; the words that a value can be.
  $values = @{
${values.join("\n")}
  }
  $positions = @{
${rows.join("\n")}
  }
  $before = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
  $given = @()
  $flag = $null
  foreach ($word in $before) {
    if ($flag) { $flag = $null; continue }
    if ($values.ContainsKey($word)) { $flag = $word; continue }
    if ($word -notlike '-*') { $given += $word }
  }
  if ($flag) { $offer = $values[$flag] }
  else {
    $position = $positions[($given -join ' ')]
    for ($count = $given.Count - 1; -not $position -and $count -gt 0; $count--) {
      $position = $positions[((@($given[0..($count - 1)]) -join ' ') + ' *')]
    }
    if (-not $position -or $position.Paths) { $offer = $null }
    else { $offer = @($position.Words) + @($position.Flags) }
    if ($position -and $wordToComplete -like '-*') { $offer = $position.Flags }
  }
  # Without an offer PowerShell completes files.
  $offer | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;
}

/** A text in single quotes, as PowerShell reads it. */
function quotePowershell(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A text in single quotes, as bash, zsh and fish read it. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
