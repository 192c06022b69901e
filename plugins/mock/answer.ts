/** Composes the mock's answers: first the blocks as they would be, then what limits leave of them. */
import type { BlockStart, ChatRequest, FinishReason } from "weir";
import type { ToolOutcome } from "./request.ts";
import { clip, freshOutcomes, lastUserText, lastUserTexts, listAttachments } from "./request.ts";
import { makeNumber } from "./seed.ts";
import { splitTokens } from "./tokens.ts";

/** A block of the answer before it is played. */
export interface PlannedBlock {
  start: BlockStart;
  /** Its text, a token each. */
  pieces: string[];
  signature?: string;
}

/** What kind of answer a model gives. */
export type Recipe = "chat" | "echo" | "reason" | "tools" | "long" | "empty";

/** A whole answer, cut to what the request allows. */
export interface Plan {
  blocks: PlannedBlock[];
  reason: FinishReason;
}

const OPENINGS = [
  "This is weir's mock model: no vendor was asked.",
  "Hello from weir's mock, which answers without a key and without a network.",
  "weir's mock here; a real model would answer this better.",
];

/** The same request has the same plan. */
export function planAnswer(request: ChatRequest, seed: string, recipe: Recipe, _length: number): Plan {
  if (recipe === "empty") return { blocks: [], reason: { kind: "stop" } };
  const text = recipe === "echo" ? lastUserTexts(request).join("\n") : writeText(request, seed);
  return { blocks: [{ start: { type: "text" }, pieces: splitTokens(text) }], reason: { kind: "stop" } };
}

function writeText(request: ChatRequest, seed: string): string {
  const outcomes = freshOutcomes(request);
  if (outcomes.length > 0)
    return `${outcomes.map(tellOutcome).join(" ")} That is all weir's mock has to say.`;
  const said = clip(lastUserText(request), 300);
  const attachments = listAttachments(request);
  return [
    OPENINGS[makeNumber(seed, "opening", OPENINGS.length)],
    said === "" ? "You sent no text." : `You said: "${said}"`,
    ...(attachments.length > 0 ? [`You also sent ${attachments.join(" and ")}.`] : []),
  ].join(" ");
}

function tellOutcome({ name, text, failed }: ToolOutcome): string {
  const result = text === "" ? "nothing" : `"${clip(text, 300)}"`;
  return failed ? `The tool ${name} failed and said ${result}.` : `The tool ${name} returned ${result}.`;
}
