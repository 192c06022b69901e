/** What a run came to: sums and the last message, from its tape alone. */
import type { Format } from "../../../core/format.ts";
import { type TapeEntry, TOOL } from "../../../gateway/recording/entry.ts";
import { GENERATE } from "../../../gateway/recording/request.ts";
import { spokenIn, type SpokenPart } from "../../../gateway/recording/talk.ts";
import type { Fork } from "../../../tapes/file.ts";
import { CALL_TOOL } from "../../../tapes/tool-message.ts";

export type Formats = ReadonlyMap<string, Format>;

/** Sums of entries. Costs are nano-dollars. */
export interface Sums {
  /** Answers of models. */
  calls: number;
  /** Calls of tools by the client. */
  tools: number;
  /** Tokens of prompts, with those of caches, and of answers. */
  input: number;
  output: number;
  cost: number;
  /** Calls whose cost is not known. */
  unknown: number;
  failed: number;
}

export interface RunSummary {
  /** Id in the state folder, or the file. */
  run: string;
  /** When its last entry was written. Milliseconds since 1970. */
  at?: number;
  /** Absent: it was recorded from its beginning. */
  fork?: Fork;
  all: Sums;
  /** Without what came from the tape of the parent. */
  own: Sums;
  /** The last text of the model. */
  last: string;
}

export function summaryOf(
  run: string,
  { entries, fork }: { entries: readonly TapeEntry[]; fork?: Fork },
  formats: Formats,
): RunSummary {
  return {
    ...{ run, ...(fork && { fork }), all: sumOf(entries) },
    own: sumOf(entries.filter(({ taped }) => taped === undefined)),
    last: lastOf(entries, formats),
  };
}

function sumOf(entries: readonly TapeEntry[]): Sums {
  const sums: Sums = { calls: 0, tools: 0, input: 0, output: 0, cost: 0, unknown: 0, failed: 0 };
  for (const entry of entries) {
    const { operation, tool, usage, cost, status, error } = entry;
    if (tool?.method === CALL_TOOL) sums.tools++;
    if (operation === TOOL) continue;
    if (operation === GENERATE) sums.calls++;
    sums.input += (usage?.input ?? 0) + (usage?.cacheRead ?? 0) + (usage?.cacheWrite ?? 0);
    sums.output += usage?.output ?? 0;
    sums.cost += cost ?? 0;
    if (cost === undefined) sums.unknown++;
    if (error || status >= 400) sums.failed++;
  }
  return sums;
}

/** What the model said last to the client; beside its conversation a client may ask for titles, without tools. */
function lastOf(entries: readonly TapeEntry[], formats: Formats): string {
  const calls = entries.filter(({ operation }) => operation === GENERATE);
  const withTools = calls.filter(({ request }) => request.lines.some((line) => line.startsWith("tool ")));
  const talk = withTools.length > 0 ? withTools : calls;
  for (const entry of talk.toReversed()) {
    const text = textOf(partsOf(entry, formats));
    if (text !== "") return text;
  }
  return "";
}

/** The answer of a call in parts. */
export function partsOf({ call, format, answer }: TapeEntry, formats: Formats): SpokenPart[] {
  return spokenIn({ id: `req_tape${call}`, format, request: "{}", answer: answer.join("") }, formats).answer;
}

const textOf = (parts: readonly SpokenPart[]) =>
  parts
    .flatMap(({ kind, text = "" }) => (kind === "text" ? [text] : []))
    .join("\n")
    .trim();

/** An entry in one line: what was asked for, and what came. */
export function lineOf(entry: TapeEntry, formats: Formats): string {
  const { operation, tool, status, error } = entry;
  if (tool) return `${tool.method}${tool.name === undefined ? "" : ` ${tool.name}`}`;
  if (error) return `${operation} failed: ${error.message}`;
  if (status >= 400) return `${operation} failed with ${status}`;
  if (operation !== GENERATE) return operation;
  const parts = partsOf(entry, formats);
  const calls = parts.flatMap(({ kind, name = "" }) => (kind === "call" ? [name] : []));
  const text = textOf(parts).replaceAll(/\s+/g, " ");
  return [...(text === "" ? [] : [JSON.stringify(text)]), ...calls.map((name) => `calls ${name}`)].join(", ");
}
