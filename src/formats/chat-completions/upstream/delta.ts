/** Reads a delta or a message, in the fields of all vendors. */
import type { Citation } from "../../../core/events.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { type Media, parseDataUri } from "../../../core/media.ts";

/** A signature or encrypted reasoning: the members of its entry, which must return to the provider unchanged. */
export interface ReasoningSeal {
  kind: "signature" | "redacted";
  members: JsonObject;
}

/** Selects the members of a `reasoning_details` entry besides its text and index. */
function sealOf({ type, signature, data, id, format }: JsonObject): ReasoningSeal | undefined {
  const named = { ...(id != null && { id }), ...(format != null && { format }) };
  if (type === "reasoning.encrypted" && typeof data === "string" && data !== "")
    return { kind: "redacted", members: { data, ...named } };
  if (typeof signature === "string" && signature !== "")
    return { kind: "signature", members: { signature, ...named } };
  return undefined;
}

/**
 * Reads the reasoning of a delta. Some vendors put the same text into two fields; the first non-empty one counts.
 */
export function readReasoning(delta: JsonObject): { text: string; seals: readonly ReasoningSeal[] } {
  const text = nonEmpty(delta.reasoning_content) ?? nonEmpty(delta.reasoning);
  if (!Array.isArray(delta.reasoning_details)) return { text: text ?? "", seals: NO_SEALS };
  const details = delta.reasoning_details.filter(isObject);
  const inDetails = details
    .map((detail) => detail.text ?? detail.summary)
    .filter((said) => typeof said === "string");
  return {
    text: text ?? inDetails.join(""),
    seals: details.map(sealOf).filter((seal) => seal !== undefined),
  };
}

const NO_SEALS: readonly ReasoningSeal[] = [];

function nonEmpty(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export type ContentPiece = { kind: "text" | "reasoning"; text: string } | { kind: "image"; image: Media };

/** Reads text, or Mistral's list of parts, where reasoning is `{type: "thinking", thinking: [texts]}`. */
export function readContent(content: Json | undefined): ContentPiece[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  return Array.isArray(content) ? content.map(readPiece) : [];
}

function readPiece(part: Json): ContentPiece {
  if (!isObject(part)) return { kind: "text", text: textIn(part) };
  if (part.type === "thinking") return { kind: "reasoning", text: textIn(part.thinking) };
  return readImage(part) ?? { kind: "text", text: textIn(part) };
}

/** Reads the images of an answer in the member that OpenRouter and LiteLLM have for them. */
export function readImages(images: Json | undefined): ContentPiece[] {
  if (!Array.isArray(images)) return [];
  return images
    .map((image) => (isObject(image) ? readImage(image) : undefined))
    .filter((piece) => piece !== undefined);
}

/** An image that is not in the answer itself becomes a line of text, because canonical images are bytes. */
function readImage({ image_url: image }: JsonObject): ContentPiece | undefined {
  const url = isObject(image) ? image.url : image;
  if (typeof url !== "string" || url === "") return undefined;
  const media = parseDataUri(url);
  return media ? { kind: "image", image: media } : { kind: "text", text: `[image: ${url}]` };
}

function textIn(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textIn).join("");
  return isObject(value) && typeof value.text === "string" ? value.text : "";
}

/** Reads annotations of type `url_citation`. */
export function readCitations(annotations: Json | undefined): Citation[] {
  if (!Array.isArray(annotations)) return [];
  return annotations.flatMap((annotation) =>
    isObject(annotation) ? readSource(annotation.url_citation) : [],
  );
}

/** Reads the sources that Perplexity lists beside the choices. */
export function readSources(sources: Json | undefined): Citation[] {
  return Array.isArray(sources) ? sources.flatMap(readSource) : [];
}

function readSource(source: Json | undefined): Citation[] {
  if (!isObject(source) || typeof source.url !== "string") return [];
  return [{ url: source.url, ...(typeof source.title === "string" && { title: source.title }) }];
}
