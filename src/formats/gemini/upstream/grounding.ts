/** Reads the web sources of an answer (`groundingMetadata`) as citations. */
import type { Citation } from "../../../core/events.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { list, number, text } from "../../shared/read.ts";

/** @param answer the text that the segments refer to */
export function citationsOf(grounding: Json, answer: string): Citation[] {
  if (!isObject(grounding)) return [];
  const sources = list(grounding.groundingChunks).map(sourceOf);
  const supports = list(grounding.groundingSupports).filter(isObject);
  if (supports.length === 0) return sources.filter((source) => source !== undefined);
  return supports.flatMap(({ segment, groundingChunkIndices }) => {
    const quoted = isObject(segment) ? segmentText(segment, answer) : undefined;
    return list(groundingChunkIndices).flatMap((index) => {
      const source = typeof index === "number" ? sources[index] : undefined;
      return source ? [{ ...source, ...(quoted && { text: quoted }) }] : [];
    });
  });
}

function sourceOf(chunk: Json): Citation | undefined {
  const web = isObject(chunk) ? (chunk.web ?? chunk.retrievedContext ?? chunk.maps) : undefined;
  if (!isObject(web) || typeof web.uri !== "string" || web.uri === "") return undefined;
  return { url: web.uri, ...(typeof web.title === "string" && { title: web.title }) };
}

/** The indexes of a segment count bytes of UTF-8; an absent start is 0. */
function segmentText(segment: JsonObject, answer: string): string | undefined {
  const end = number(segment.endIndex);
  const given = text(segment.text);
  if (given !== undefined || end === undefined) return given;
  return Buffer.from(answer)
    .subarray(number(segment.startIndex) ?? 0, end)
    .toString();
}
