/** The tools of a request on a tape: the lines of its meaning (see gateway/recording/meaning.ts), without other texts. */
import { TextEstimate } from "../../../core/estimate.ts";
import type { Meaning } from "../../../gateway/recording/meaning.ts";
import type { Layout, ResultSpan, ToolSize } from "./layout.ts";

/** What a line of the first depth begins with in a declaration. */
const TOOL = /^tool (.*?)(?: \((custom|foreign)\))?$/;
const CALL = /^ {2}call (\d+): (\S+) /;
const RESULT = /^ {2}(failed )?result of (?:call (\d+)|(.*))$/;

const isDeeper = (line: string) => line.startsWith(" ");
/** Without what a tape adds: indents, and the bars in front of texts. */
const bytesOf = (line: string) => Buffer.byteLength(line.replace(/^ +(\| )?/, ""));

/** @returns the sizes that {@link Layout} has, for a request on a tape */
export function layoutOfLines(lines: readonly string[]): Layout {
  const { declarations, rest } = declarationsOf(lines);
  const tools = declarations.map(({ name, lines: own, isHosted }): ToolSize => {
    const bytes = own.reduce((sum, line) => sum + bytesOf(line), 0);
    return { name, bytes, ...(isHosted && { isHosted }) };
  });
  const names = new Map<string, string>();
  const called = new Set<string>();
  const results: ResultSpan[] = [];
  const errors = new Map<string, number>();
  const lastAnswer = rest.findLastIndex((line) => !isDeeper(line) && line.startsWith("assistant"));
  let at = tools.reduce((sum, { bytes }) => sum + bytes, 0);
  let open: { tool: string; from: number } | undefined;
  for (const [index, line] of rest.entries()) {
    const isInner = line.startsWith("    ");
    if (open && !isInner) {
      results.push({ ...open, to: at });
      open = undefined;
    }
    const call = CALL.exec(line);
    const result = RESULT.exec(line);
    if (call) {
      names.set(call[1]!, call[2]!);
      called.add(call[2]!);
    } else if (result) {
      const tool = result[2] === undefined ? result[3]! : names.get(result[2]);
      if (tool === undefined) continue;
      called.add(tool);
      open = { tool, from: at };
      if (result[1] !== undefined && index > lastAnswer) errors.set(tool, (errors.get(tool) ?? 0) + 1);
      continue;
    }
    if (isDeeper(line)) at += bytesOf(line);
  }
  if (open) results.push({ ...open, to: at });
  return { tools, results, called, errors, bytes: at };
}

interface Declaration {
  readonly name: string;
  readonly lines: readonly string[];
  readonly isHosted: boolean;
}

function declarationsOf(lines: readonly string[]): { declarations: Declaration[]; rest: string[] } {
  const declarations: (Declaration & { lines: string[] })[] = [];
  // Declarations precede the conversation.
  let index = 0;
  for (; index < lines.length; index++) {
    const line = lines[index]!;
    const head = TOOL.exec(line);
    if (head) declarations.push({ name: head[1]!, lines: [head[1]!], isHosted: head[2] === "foreign" });
    else if (isDeeper(line) && declarations.length > 0) declarations.at(-1)!.lines.push(line);
    else break;
  }
  return { declarations, rest: lines.slice(index) };
}

/** Estimated tokens of a request whose answer has no counts. */
export function estimatedTokens(lines: readonly string[]): number {
  const estimate = new TextEstimate();
  for (const line of lines) estimate.add(line);
  return estimate.tokens;
}

/** The request without the declarations of some tools. */
export function withoutTools({ lines, ...meaning }: Meaning, names: ReadonlySet<string>): Meaning {
  let isLeftOut = false;
  let isConversation = false;
  const left = lines.filter((line) => {
    if (isDeeper(line)) return !isLeftOut;
    const head = isConversation ? null : TOOL.exec(line);
    isConversation ||= head === null;
    isLeftOut = head !== null && names.has(head[1]!);
    return !isLeftOut;
  });
  return { ...meaning, lines: left };
}
