/** What a delta or a message says, in the fields of all vendors. */
import type { Citation } from "../../../core/events.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

/** Opaque proof that came with reasoning: the members of its entry that have to come back as they are. */
export interface ReasoningSeal {
  kind: "signature" | "redacted";
  members: JsonObject;
}

/** Members of a `reasoning_details` entry that are not its text and not its place in this answer. */
function sealOf({ type, signature, data, id, format }: JsonObject): ReasoningSeal | undefined {
  const named = { ...(id != null && { id }), ...(format != null && { format }) };
  if (type === "reasoning.encrypted" && typeof data === "string" && data !== "")
    return { kind: "redacted", members: { data, ...named } };
  if (typeof signature === "string" && signature !== "")
    return { kind: "signature", members: { signature, ...named } };
  return undefined;
}

/**
 * The reasoning of a delta. Vendors put the same text into two fields: the first that says something counts.
 */
export function readReasoning(delta: JsonObject): { text: string; seals: ReasoningSeal[] } {
  const details = Array.isArray(delta.reasoning_details) ? delta.reasoning_details.filter(isObject) : [];
  const inDetails = details
    .map((detail) => detail.text ?? detail.summary)
    .filter((text) => typeof text === "string");
  const text = [delta.reasoning_content, delta.reasoning, inDetails.join("")].find(
    (said) => typeof said === "string" && said !== "",
  );
  return {
    text: typeof text === "string" ? text : "",
    seals: details.map(sealOf).filter((seal) => seal !== undefined),
  };
}

/** A run of content, as its kind. */
export interface ContentPiece {
  kind: "text" | "reasoning";
  text: string;
}

/** Text, or Mistral's list of chunks: texts, and reasoning as `{type: "thinking", thinking: [texts]}`. */
export function readContent(content: Json | undefined): ContentPiece[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  return Array.isArray(content) ? content.map(readPiece) : [];
}

function readPiece(part: Json): ContentPiece {
  if (isObject(part) && part.type === "thinking") return { kind: "reasoning", text: textIn(part.thinking) };
  return { kind: "text", text: textIn(part) };
}

function textIn(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textIn).join("");
  return isObject(value) && typeof value.text === "string" ? value.text : "";
}

/** `annotations` of type `url_citation`. */
export function readCitations(annotations: Json | undefined): Citation[] {
  if (!Array.isArray(annotations)) return [];
  return annotations.flatMap((annotation) => {
    const cited = isObject(annotation) ? annotation.url_citation : undefined;
    if (!isObject(cited) || typeof cited.url !== "string") return [];
    return [{ url: cited.url, ...(typeof cited.title === "string" && { title: cited.title }) }];
  });
}
