/** Options of the config as text. */
import type { ConfigChange, ConfigOption } from "../../data/types.ts";
import type { DiffLine } from "../../parts/diff-lines.ts";

/** A value as weir.yaml writes a short one: `64`, `groq/llama`, `[a, b]`, `{model: x, weight: 3}`; "" for an absent value. */
export function showValue(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string") return isPlain(value) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(showValue).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${name}: ${showValue(member)}`);
    return `{${members.join(", ")}}`;
  }
  return String(value);
}

/** Characters of a value that stays on one line. */
const WIDE = 60;

/** A value as weir.yaml writes it: what is longer than a line has a line for each member. */
export function valueLines(value: unknown): string[] {
  const line = showValue(value);
  if (line.length <= WIDE || typeof value !== "object" || value === null) return [line];
  if (Array.isArray(value))
    return value.flatMap((item) => valueLines(item).map((one, at) => `${at === 0 ? "- " : "  "}${one}`));
  return Object.entries(value).flatMap(([name, member]) => memberLines(showValue(name), member));
}

/** A value behind its name, which may be a path. */
function memberLines(name: string, value: unknown): string[] {
  const lines = valueLines(value);
  if (lines.length === 1 && (typeof value !== "object" || lines[0]!.length <= WIDE))
    return [`${name}: ${lines[0]!}`];
  return [`${name}:`, ...lines.map((line) => `  ${line}`)];
}

/** YAML reads it as this text without quotes. */
function isPlain(text: string): boolean {
  if (text === "" || /^[\s[{"'&!|>%@`#-]|[:#]\s|\s$/.test(text)) return false;
  return Number.isNaN(Number(text)) && !/^(true|false|null|~)$/i.test(text);
}

/** Those whose path, value or source contains the text. */
export function matchingOptions(options: readonly ConfigOption[], text: string): ConfigOption[] {
  const part = text.trim().toLowerCase();
  return options.filter(({ path, value, where = "", source }) =>
    [path, showValue(value), where, source].some((one) => one.toLowerCase().includes(part)),
  );
}

/** `weir.yaml, line 31`, `environment, OPENAI_API_KEY`, `default`. */
export function showSource({ source, where }: ConfigOption): string {
  if (where === undefined) return source;
  const line = lineOf(where);
  if (line !== undefined) return `${where.slice(0, where.lastIndexOf(":"))}, line ${line}`;
  return source === "file" ? where : `${source}, ${where}`;
}

/** The line of `weir.yaml:31`. */
export function lineOf(where: string | undefined): number | undefined {
  return Number(/:(\d+)$/.exec(where ?? "")?.[1]) || undefined;
}

/** Running options against those on the disk, line by line: of groups only the members that differ. */
export function changeLines(changes: readonly ConfigChange[]): DiffLine[] {
  return changes.flatMap(({ path, running, onDisk }) => differing(path, running, onDisk));
}

function differing(name: string, before: unknown, after: unknown): DiffLine[] {
  if (!isGroup(before) || !isGroup(after)) return [...signed("-", name, before), ...signed("+", name, after)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((one) => JSON.stringify(before[one]) !== JSON.stringify(after[one]));
  const same = names.length - changed.length;
  const lines = changed.flatMap((one) => differing(showValue(one), before[one], after[one]));
  const rest: DiffLine[] = same === 0 ? [] : [{ sign: " ", text: `… ${same} unchanged` }];
  return [
    { sign: " ", text: `${name}:` },
    ...[...lines, ...rest].map(({ sign, text }) => ({ sign, text: `  ${text}` })),
  ];
}

function signed(sign: "-" | "+", name: string, value: unknown): DiffLine[] {
  if (value === undefined) return [];
  return memberLines(name, value).map((text) => ({ sign, text }));
}

function isGroup(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
