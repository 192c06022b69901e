/**
 * Encodes reasoning as plain text in `reasoning_content`, and signed or encrypted reasoning as `reasoning_details` in the
 * shape of OpenRouter, whose `format` names the vendor that made the entry (src/formats/README.md#reasoning-and-signatures).
 */
import type { ReasoningBlock } from "../../core/chat.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../core/json.ts";
import { getOwn } from "../../core/own.ts";
import { unwrap } from "../../core/provenance.ts";
import { list } from "../shared/read.ts";

/** Who signs the thoughts of Gemini models, at whichever host. */
export const GOOGLE = "google";

/** `format` values of OpenRouter, by vendor. */
const FORMATS: Record<string, string> = {
  anthropic: "anthropic-claude-v1",
  [GOOGLE]: "google-gemini-v1",
  openai: "openai-responses-v1",
};
const ORIGINS = Object.fromEntries(Object.entries(FORMATS).map(([origin, format]) => [format, origin]));

/** Prefix for the names of other providers. */
const OWN_FORMAT = "weir1.";

/** Returns the `format` of an entry; absent for unsigned reasoning. */
export function encodeOrigin(origin: string | undefined): { format?: string } {
  return origin === undefined ? {} : { format: getOwn(FORMATS, origin) ?? `${OWN_FORMAT}${origin}` };
}

function decodeOrigin(format: Json | undefined): string | undefined {
  if (typeof format !== "string" || format === "") return undefined;
  return (
    getOwn(ORIGINS, format) ?? (format.startsWith(OWN_FORMAT) ? format.slice(OWN_FORMAT.length) : format)
  );
}

/** Encodes an entry with text, a signature, or both; `index` counts the reasoning blocks of the answer. */
export function textDetail(
  part: { text?: string; signature?: string },
  origin: string | undefined,
  index: number,
) {
  return { type: "reasoning.text", ...part, ...encodeOrigin(origin), index };
}

/** Encodes an entry of encrypted reasoning. */
export function encryptedDetail(data: string, origin: string | undefined, index: number): JsonObject {
  return { type: "reasoning.encrypted", data, ...encodeOrigin(origin), index };
}

/**
 * Decodes the reasoning of an assistant message that a client sends back. The most detailed form counts:
 * `reasoning_details`, then `thinking_blocks` of LiteLLM, then plain text.
 * @param path of the message
 */
export function decodeReasoning(message: JsonObject, path: string): ReasoningBlock[] {
  for (const [name, decode] of FORMS) {
    const value = message[name];
    if (value == null) continue;
    const blocks = decode(value);
    if (blocks.length > 0) return blocks.map((block) => ({ ...block, path: `${path}.${name}` }));
  }
  return [];
}

const FORMS: readonly (readonly [name: string, decode: (value: Json | undefined) => ReasoningBlock[]])[] = [
  ["reasoning_details", (details) => decodeDetails(list(details))],
  ["thinking_blocks", (blocks) => list(blocks).flatMap(decodeThinkingBlock)],
  ["reasoning_content", plainText],
  ["reasoning", plainText],
];

function plainText(text: Json | undefined): ReasoningBlock[] {
  return typeof text === "string" && text !== "" ? [{ type: "reasoning", text }] : [];
}

/** Decodes entries. Clients keep the fragments of a stream: those with the same index belong to one block. */
function decodeDetails(details: readonly Json[]): ReasoningBlock[] {
  const blocks: ReasoningBlock[] = [];
  let run: { block: ReasoningBlock; index: Json | undefined } | undefined;
  for (const detail of details) {
    if (!isObject(detail)) continue;
    const part = decodeDetail(detail);
    if (!part) continue;
    if (run && detail.index === run.index && isContinued(run.block, part)) {
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

function isContinued(block: ReasoningBlock, part: ReasoningBlock): boolean {
  return block.redacted === undefined && part.redacted === undefined && block.signature === undefined;
}

/** Decodes one `reasoning_details` entry; `undefined` for undocumented types and empty entries. */
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
  const content = typeof text === "string" ? text : "";
  return content === "" && !signed.signature
    ? undefined
    : { type: "reasoning", text: content, ...signed, ...from };
}

/** Decodes LiteLLM's copy of a Messages block: signatures are Anthropic's unless weir has wrapped them. */
function decodeThinkingBlock(value: Json): ReasoningBlock[] {
  if (!isObject(value)) return [];
  if (value.type === "redacted_thinking" && typeof value.data === "string")
    return [{ type: "reasoning", text: "", ...unwrapped("redacted", value.data) }];
  if (value.type !== "thinking") return [];
  const text = typeof value.thinking === "string" ? value.thinking : "";
  if (typeof value.signature === "string" && value.signature !== "")
    return [{ type: "reasoning", text, ...unwrapped("signature", value.signature) }];
  return text === "" ? [] : [{ type: "reasoning", text }];
}

function unwrapped(member: "signature" | "redacted", value: string): Partial<ReasoningBlock> {
  const wrapped = unwrap(value);
  return wrapped
    ? { [member]: wrapped.payload, origin: wrapped.origin }
    : { [member]: value, origin: "anthropic" };
}

/**
 * Packs members of a `reasoning_details` entry, which the provider needs back in the next turn, into one opaque value.
 */
export function packMembers(members: JsonObject): string {
  return JSON.stringify(members);
}

/** Unpacks the members; `undefined` for a value that `packMembers` did not make, which is a plain signature. */
export function unpackMembers(value: string): JsonObject | undefined {
  const members = value.startsWith("{") ? parseJson(value) : undefined;
  return isObject(members) ? members : undefined;
}

/** Google's thought signature of a tool call, which its compatible endpoints write into `extra_content`. */
export function thoughtSignature({ extra_content: extra }: JsonObject): string | undefined {
  const google = isObject(extra) ? extra.google : undefined;
  const signature = isObject(google) ? google.thought_signature : undefined;
  return typeof signature === "string" && signature !== "" ? signature : undefined;
}

/** The member of a tool call with Google's thought signature. */
export function signatureMember(signature: string): JsonObject {
  return { extra_content: { google: { thought_signature: signature } } };
}
