/** The report of an import: what it took over and what not, for people and as JSON. */
import type { EnvironmentVariable } from "./environment.ts";
import type { Imported } from "./convert.ts";
import { collapse, type Fate, type SettingOutcome } from "./source.ts";

/** The shape of `weir import --json`. */
export interface Report {
  /** The text of `weir.yaml`. */
  config: string;
  taken: SettingOutcome[];
  changed: SettingOutcome[];
  /** Without a counterpart. */
  none: SettingOutcome[];
  remarks: string[];
  /** Variables that `weir.yaml` refers to. `at` and `path`: where the source has the value of one. */
  variables: Omit<EnvironmentVariable, "value">[];
  /** Why the result does not load. */
  faults: string[];
}

export function reportOf(
  { yaml, outcomes, remarks, variables }: Imported,
  faults: readonly string[],
): Report {
  const of = (fate: Fate) => outcomes.filter((outcome) => outcome.fate === fate);
  return {
    config: yaml,
    ...{ taken: of("taken"), changed: of("changed"), none: of("none") },
    remarks: [...remarks],
    variables: variables.map(({ value: _, ...variable }) => variable),
    faults: [...faults],
  };
}

/** The report for people. @param envFile where the values of literals were written */
export function describe({ taken, changed, none, remarks, variables }: Report, envFile?: string): string {
  const literal = variables.filter(({ at }) => at !== undefined);
  return [
    `taken over: ${taken.length}, changed in meaning: ${changed.length}, no counterpart: ${none.length}`,
    ...section("changed in meaning", collapse(changed).map(lineOf)),
    ...section("no counterpart", collapse(none).map(lineOf)),
    ...section(
      "notes",
      remarks.map((remark) => `${remark}.`),
    ),
    ...section(headOf(literal.length, envFile), envFile === undefined ? literal.map(exportOf) : []),
    ...section(
      "weir needs these variables, which the source had, too",
      unset(variables).map(({ name }) => name),
    ),
  ].join("\n");
}

function unset(variables: Report["variables"]): Report["variables"] {
  return variables.filter(({ at }) => at === undefined);
}

function headOf(literals: number, envFile: string | undefined): string {
  if (literals === 0) return "";
  return envFile === undefined
    ? "secrets that stand in the source are not in weir.yaml: set these variables to their values (--env FILE writes them to a file)"
    : `secrets that stand in the source are in ${envFile}, which only you can read; weir.yaml refers to them`;
}

function exportOf({ name, at, path }: Omit<EnvironmentVariable, "value">): string {
  return `export ${name}=…  # the value of ${path}, ${at}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return title === "" || (lines.length === 0 && !title.includes("only you"))
    ? []
    : [`\n${title}`, ...lines.map((line) => `  ${line}`)];
}

function lineOf({ at, path, value, why = "", instead, to }: SettingOutcome): string {
  const where = to === undefined ? "" : ` → ${to}`;
  return `${at} ${path} = ${value}${where}: ${why}${instead === undefined ? "" : `; instead: ${instead}`}`;
}

/** Lines for a shell or an `EnvironmentFile` of systemd: `NAME='value'`. */
export function envFileOf(variables: readonly EnvironmentVariable[]): string {
  return variables
    .flatMap(({ name, value }) =>
      value === undefined ? [] : [`${name}='${value.replaceAll("'", `'\\''`)}'\n`],
    )
    .join("");
}
