/** What the mock reads out of a request. */
import type { Block, ChatRequest, Turn } from "weir";

/** The texts of the last user turn that has any. */
export function lastUserTexts(request: ChatRequest): string[] {
  for (const turn of request.turns.toReversed()) {
    const texts = turn.role === "user" ? textsOf(turn.blocks) : [];
    if (texts.length > 0) return texts;
  }
  return [];
}

/** What the user wants: the last text of all. Agents put reminders of their own in front of it. */
export function lastUserText(request: ChatRequest): string {
  return lastUserTexts(request).at(-1) ?? "";
}

/** What one tool answered, with the name it was called by. */
export interface ToolOutcome {
  name: string;
  text: string;
  failed: boolean;
}

/** The tool results that came since the model spoke last. */
export function freshOutcomes(request: ChatRequest): ToolOutcome[] {
  const names = new Map<string, string>();
  for (const { blocks } of request.turns)
    for (const block of blocks) if (block.type === "tool-call") names.set(block.id, block.name);
  return turnsSinceAnswer(request).flatMap(({ blocks }) =>
    blocks.flatMap((block) => {
      if (block.type !== "tool-result") return [];
      const name = block.name ?? names.get(block.id) ?? "the tool";
      return [{ name, text: describeBlocks(block.blocks), failed: block.error === true }];
    }),
  );
}

function turnsSinceAnswer(request: ChatRequest): Turn[] {
  return request.turns.slice(request.turns.findLastIndex((turn) => turn.role === "assistant") + 1);
}

/** How many blocks of each kind that is not text came with the last user turns: `2 images`, `1 document`. */
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

/** Whether the client asked for none. */
export function refusesReasoning(wish: ChatRequest["reasoning"]): boolean {
  return wish?.mode === "off" || wish?.effort === "none";
}

/** A text cut to a length that fits into a sentence. */
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
