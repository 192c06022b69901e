/**
 * Reasoning on the chat-completions side (src/formats/README.md#reasoning-and-signatures):
 * plain text in `reasoning_content`, and `reasoning_details`
 * entries in OpenRouter's shape for what is signed or encrypted. The `format` of an entry says who made it.
 */
import type { ReasoningBlock } from "../../core/chat.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { unwrap } from "../../core/provenance.ts";
import { getOwn } from "../../core/own.ts";

/** The formats OpenRouter named, by who makes them. */
const FORMATS: Record<string, string> = {
  anthropic: "anthropic-claude-v1",
  gemini: "google-gemini-v1",
  openai: "openai-responses-v1",
};
const ORIGINS = Object.fromEntries(Object.entries(FORMATS).map(([origin, format]) => [format, origin]));

/** What stands before the name of any other provider. */
const OWN_FORMAT = "weir1.";

/** `format` of an entry; nothing for reasoning nobody signs. */
export function encodeOrigin(origin: string | undefined): { format?: string } {
  return origin === undefined ? {} : { format: getOwn(FORMATS, origin) ?? `${OWN_FORMAT}${origin}` };
}

function decodeOrigin(format: Json | undefined): string | undefined {
  if (typeof format !== "string" || format === "") return undefined;
  return (
    getOwn(ORIGINS, format) ?? (format.startsWith(OWN_FORMAT) ? format.slice(OWN_FORMAT.length) : format)
  );
}

/** An entry with text, a signature, or both; `index` counts the runs of reasoning. */
export function textDetail(
  part: { text?: string; signature?: string },
  origin: string | undefined,
  index: number,
) {
  return { type: "reasoning.text", ...part, ...encodeOrigin(origin), index };
}

/** An entry of encrypted reasoning. */
export function encryptedDetail(data: string, origin: string | undefined, index: number): JsonObject {
  return { type: "reasoning.encrypted", data, ...encodeOrigin(origin), index };
}

/**
 * Reasoning of an assistant message a client sends back, in the order of what says most: entries, LiteLLM's
 * `thinking_blocks`, plain text.
 */
export function decodeReasoning(message: JsonObject): ReasoningBlock[] {
  if (Array.isArray(message.reasoning_details)) {
    const blocks = decodeDetails(message.reasoning_details);
    if (blocks.length > 0) return blocks;
  }
  if (Array.isArray(message.thinking_blocks)) {
    const blocks = message.thinking_blocks.flatMap(decodeThinkingBlock);
    if (blocks.length > 0) return blocks;
  }
  const text = [message.reasoning_content, message.reasoning].find(
    (value) => typeof value === "string" && value !== "",
  );
  return typeof text === "string" ? [{ type: "reasoning", text }] : [];
}

/** Entries as blocks. Clients collect the fragments of a stream as they came: those of one run are put together. */
function decodeDetails(details: readonly Json[]): ReasoningBlock[] {
  const blocks: ReasoningBlock[] = [];
  let run: { block: ReasoningBlock; index: Json | undefined } | undefined;
  for (const detail of details) {
    if (!isObject(detail)) continue;
    const part = decodeDetail(detail);
    if (!part) continue;
    if (run && detail.index === run.index && continues(run.block, part)) {
      run.block.text += part.text;
      run.block.signature ??= part.signature;
      run.block.origin ??= part.origin;
      continue;
    }
    blocks.push(part);
    run = { block: part, index: detail.index };
  }
  return blocks;
}

function continues(block: ReasoningBlock, part: ReasoningBlock): boolean {
  return block.redacted === undefined && part.redacted === undefined && block.signature === undefined;
}

/** One `reasoning_details` entry; nothing when it is of a kind nobody documented or says nothing. */
export function decodeDetail(detail: JsonObject): ReasoningBlock | undefined {
  const origin = decodeOrigin(detail.format);
  const from = origin === undefined ? {} : { origin };
  switch (detail.type) {
    case "reasoning.text":
      return textBlock(detail.text, detail.signature, from);
    case "reasoning.summary":
      return textBlock(detail.summary, undefined, from);
    case "reasoning.encrypted":
      if (typeof detail.data !== "string" || detail.data === "") return undefined;
      return { type: "reasoning", text: "", redacted: detail.data, ...from };
    default:
      return undefined;
  }
}

function textBlock(
  text: Json | undefined,
  signature: Json | undefined,
  from: { origin?: string },
): ReasoningBlock | undefined {
  const signed = typeof signature === "string" && signature !== "" ? { signature } : {};
  const said = typeof text === "string" ? text : "";
  return said === "" && !signed.signature ? undefined : { type: "reasoning", text: said, ...signed, ...from };
}

/** LiteLLM's copy of the Messages blocks: the signatures are Anthropic's unless they are sealed. */
function decodeThinkingBlock(value: Json): ReasoningBlock[] {
  if (!isObject(value)) return [];
  if (value.type === "redacted_thinking" && typeof value.data === "string")
    return [{ type: "reasoning", text: "", ...opened("redacted", value.data) }];
  if (value.type !== "thinking") return [];
  const text = typeof value.thinking === "string" ? value.thinking : "";
  if (typeof value.signature === "string" && value.signature !== "")
    return [{ type: "reasoning", text, ...opened("signature", value.signature) }];
  return text === "" ? [] : [{ type: "reasoning", text }];
}

function opened(member: "signature" | "redacted", value: string): Partial<ReasoningBlock> {
  const sealed = unwrap(value);
  return sealed
    ? { [member]: sealed.payload, origin: sealed.origin }
    : { [member]: value, origin: "anthropic" };
}

/**
 * What a chat-completions upstream wants back beside the text, as one opaque value: the members of its own entry, or of
 * a tool call (`extra_content`, where Gemini keeps its thought signatures).
 */
export function sealMembers(members: JsonObject): string {
  return JSON.stringify(members);
}

/** The members again; a value that was not made by `sealMembers` is a signature in its own right. */
export function openMembers(value: string): JsonObject | undefined {
  const members = value.startsWith("{") ? parseJson(value) : undefined;
  return isObject(members) ? members : undefined;
}
