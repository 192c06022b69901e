/** Reads what the mock needs from a request. */
import type { Block, ChatRequest, Turn } from "weir";

/** Returns the texts of the last user turn with text. */
export function lastUserTexts(request: ChatRequest): string[] {
  for (const turn of request.turns.toReversed()) {
    const texts = turn.role === "user" ? textsOf(turn.blocks) : [];
    if (texts.length > 0) return texts;
  }
  return [];
}

/** Returns the last user text; agents put their reminders before the text of the user. */
export function lastUserText(request: ChatRequest): string {
  return lastUserTexts(request).at(-1) ?? "";
}

/** The result of a tool call, with the name of the tool. */
export interface ToolOutcome {
  name: string;
  text: string;
  failed: boolean;
}

/** Returns the names of the called tools, by the id of the call. */
function namesOfCalls(request: ChatRequest): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { blocks } of request.turns)
    for (const block of blocks) if (block.type === "tool-call") names.set(block.id, block.name);
  return names;
}

/** Returns the tool results after the last assistant turn. */
export function freshOutcomes(request: ChatRequest): ToolOutcome[] {
  const names = namesOfCalls(request);
  return turnsSinceAnswer(request).flatMap(({ blocks }) =>
    blocks.flatMap((block) => {
      if (block.type !== "tool-result") return [];
      const name = block.name ?? names.get(block.id) ?? "the tool";
      return [{ name, text: describeBlocks(block.blocks), failed: block.error === true }];
    }),
  );
}

/** Lists the conversation, one line for each block: `user: Hello`, `assistant called get_time: {}`. */
export function listHistory(request: ChatRequest): string {
  const names = namesOfCalls(request);
  const lines = request.turns.flatMap(({ role, blocks }) =>
    blocks.map((block) => `${role}${describeHistory(block, names)}`),
  );
  return lines.join("\n");
}

function describeHistory(block: Block, names: ReadonlyMap<string, string>): string {
  switch (block.type) {
    case "reasoning":
      return ` reasoned${block.signature ? ", signed" : ""}: ${block.text}`;
    case "tool-call":
      return ` called ${block.name}: ${block.input}`;
    case "tool-result":
      return ` sent the result of ${block.name ?? names.get(block.id) ?? "a tool"}: ${describeBlocks(block.blocks)}`;
    default:
      return `: ${describeBlocks([block])}`;
  }
}

function turnsSinceAnswer(request: ChatRequest): Turn[] {
  return request.turns.slice(request.turns.findLastIndex((turn) => turn.role === "assistant") + 1);
}

/** Counts the attachments of the last user turns by kind: `2 images`, `1 document`. */
export function listAttachments(request: ChatRequest): string[] {
  const blocks = turnsSinceAnswer(request).flatMap((turn) => (turn.role === "user" ? turn.blocks : []));
  return (["image", "document", "audio"] as const).flatMap((kind) => {
    const count = blocks.filter((block) => block.type === kind).length;
    return count === 0 ? [] : [kind === "audio" ? "audio" : `${count} ${kind}${count === 1 ? "" : "s"}`];
  });
}

/** Whether the client asked for reasoning. */
export function wantsReasoning({ reasoning }: ChatRequest): boolean {
  return reasoning !== undefined && !refusesReasoning(reasoning);
}

/** Whether the client switched reasoning off. */
export function refusesReasoning(reasoning: ChatRequest["reasoning"]): boolean {
  return reasoning?.mode === "off" || reasoning?.effort === "none";
}

/** Truncates a text to `length` characters. */
export function clip(text: string, length: number): string {
  const letters = [...text.trim().slice(0, 2 * length)];
  return letters.length <= length ? letters.join("") : `${letters.slice(0, length).join("")}…`;
}

function textsOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => (block.type === "text" && block.text !== "" ? [block.text] : []));
}

function describeBlocks(blocks: readonly Block[]): string {
  return blocks
    .map((block) => ("text" in block ? block.text : `[${block.type}]`))
    .filter((text) => text !== "")
    .join("\n");
}
