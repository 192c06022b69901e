/** The blocks of a JSON answer as the events in which a stream would send them: both have other shapes for some blocks. */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { list } from "../../shared/read.ts";

export type Part = readonly [event: string, data: JsonObject];

/** @param index position of the block in the content */
export function partsOf(block: JsonObject, index: number): Part[] {
  const start = (value: JsonObject): Part => [
    "contentBlockStart",
    { contentBlockIndex: index, start: value },
  ];
  const delta = (value: JsonObject): Part => [
    "contentBlockDelta",
    { contentBlockIndex: index, delta: value },
  ];
  const stop: Part = ["contentBlockStop", { contentBlockIndex: index }];
  if (typeof block.text === "string") return [delta({ text: block.text }), stop];
  if (isObject(block.toolUse)) {
    const { input, ...call } = block.toolUse;
    return [start({ toolUse: call }), delta({ toolUse: { input: JSON.stringify(input ?? {}) } }), stop];
  }
  if (isObject(block.toolResult)) {
    const { content, ...result } = block.toolResult;
    return [start({ toolResult: result }), delta({ toolResult: content ?? [] }), stop];
  }
  if (isObject(block.reasoningContent))
    return [
      ...reasoningIn(block.reasoningContent).map((reasoningContent) => delta({ reasoningContent })),
      stop,
    ];
  if (isObject(block.citationsContent)) {
    const { content, citations } = block.citationsContent;
    return [
      ...textsIn(content).map((text) => delta({ text })),
      ...list(citations).map((citation) => delta({ citation })),
      stop,
    ];
  }
  return [start(block), stop];
}

/** A stream has no `reasoningText` around text and signature. */
function reasoningIn({ reasoningText, redactedContent }: JsonObject): JsonObject[] {
  if (!isObject(reasoningText)) return redactedContent === undefined ? [] : [{ redactedContent }];
  const { text, signature } = reasoningText;
  return [...(text === undefined ? [] : [{ text }]), ...(signature === undefined ? [] : [{ signature }])];
}

function textsIn(content: Json | undefined): string[] {
  return list(content).flatMap((piece) =>
    isObject(piece) && typeof piece.text === "string" ? [piece.text] : [],
  );
}
