/** Writes the texts of the mock. */
import type { ChatRequest } from "weir";
import type { ToolOutcome } from "./request.ts";
import { clip, freshOutcomes, lastUserText, listAttachments } from "./request.ts";
import { makeInstance } from "./schema.ts";
import { makeNumber } from "./seed.ts";
import { splitTokens } from "./tokens.ts";

const OPENINGS = [
  "This is weir's mock model: no vendor was asked.",
  "Hello from weir's mock, which answers without a key and without a network.",
  "weir's mock here; a real model would answer this better.",
];

/** Writes the text of an answer in the requested format. */
export function writeAnswer(request: ChatRequest, seed: string): string {
  const wanted = request.answerFormat;
  if (wanted?.type === "json-schema") return JSON.stringify(makeInstance(wanted.schema, seed));
  const text = writeSentences(request, seed);
  return wanted?.type === "json" ? JSON.stringify({ answer: text }) : text;
}

function writeSentences(request: ChatRequest, seed: string): string {
  const outcomes = freshOutcomes(request);
  if (outcomes.length > 0) return `weir's mock has the results. ${outcomes.map(tellOutcome).join(" ")}`;
  const said = clip(lastUserText(request), 300);
  const attachments = listAttachments(request);
  const tools = request.tools.filter((tool) => tool.kind !== "foreign").length;
  return [
    OPENINGS[makeNumber(seed, "opening", OPENINGS.length)],
    said === "" ? "You sent no text." : `You said: "${said}"`,
    ...(attachments.length > 0 ? [`You also sent ${attachments.join(" and ")}.`] : []),
    ...(tools > 0 ? [`You offer ${tools} tool${tools === 1 ? "" : "s"}; name one and I call it.`] : []),
  ].join(" ");
}

function tellOutcome({ name, text, failed }: ToolOutcome): string {
  const result = text === "" ? "nothing" : `"${clip(text, 300)}"`;
  return failed ? `The tool ${name} failed and said ${result}.` : `The tool ${name} returned ${result}.`;
}

const THOUGHTS = [
  "A mock does not know the answer, so it should say what it is.",
  "It helps to repeat what was said, so that the reader sees what arrived.",
  "If tools are offered and one is named, calling it is the better answer.",
  "The answer should be short.",
  "Nothing here may depend on chance: the same question gets the same answer.",
];

/** Number of thoughts for an effort; an unknown effort counts as medium. */
const EFFORT = new Map([
  ["minimal", 1],
  ["low", 1],
  ["medium", 2],
  ["high", 4],
  ["xhigh", 5],
  ["max", 5],
]);

/** Writes the reasoning before an answer. */
export function writeReasoning(request: ChatRequest): string {
  const said = clip(lastUserText(request), 120);
  const question = said === "" ? "The user sent no text." : `The user says: "${said}".`;
  const thoughts = THOUGHTS.slice(0, EFFORT.get(request.reasoning?.effort ?? "") ?? 2);
  return [question, ...thoughts].join(" ");
}

const FILLER = splitTokens(
  "A weir is a low dam across a river. It holds the water back a little, and lets it run over its top. ",
);

/** Writes a text of exactly this number of tokens. */
export function writeLong(tokens: number): string[] {
  return Array.from({ length: tokens }, (_, index) => FILLER[index % FILLER.length]!);
}
