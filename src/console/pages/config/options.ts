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

/** Running options against those on the disk. */
export function changeLines(changes: readonly ConfigChange[]): DiffLine[] {
  return changes.flatMap(({ path, running, onDisk }) => [
    ...(running === undefined ? [] : [{ sign: "-" as const, text: `${path}: ${showValue(running)}` }]),
    ...(onDisk === undefined ? [] : [{ sign: "+" as const, text: `${path}: ${showValue(onDisk)}` }]),
  ]);
}
