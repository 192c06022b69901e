/**
 * Embeds without a model: the words of a text and the pieces of its words are hashed to places of the vector. Texts that share
 * many of them point in a similar direction.
 */
import type { CallView, EmbedAnswer, EmbedInput, EmbedRequest } from "weir";
import { invalidRequest } from "weir";
import { behaveFor } from "./behave.ts";
import { countTokens } from "./tokens.ts";

/** Length of the vectors, unless the request sets another. */
const DIMENSIONS = 256;
const MAX_DIMENSIONS = 4096;
/** Length of the pieces of a word, in UTF-16 units. */
const PIECE = 3;
/** Weights of a whole word and of a piece: two forms of a word are near, the same word is nearer. */
const WORD_WEIGHT = 1;
const PIECE_WEIGHT = 0.5;

/** `mock/embed` embeds; the models that fail, fail here, too. */
export async function embed(request: EmbedRequest, call: CallView): Promise<EmbedAnswer> {
  const model = call.target?.model ?? request.model;
  await behaveFor(model, call);
  const { inputs, dimensions = DIMENSIONS } = request;
  if (dimensions > MAX_DIMENSIONS)
    throw invalidRequest(
      `The mock's vectors have at most ${MAX_DIMENSIONS} dimensions.`,
      request.pathOf("dimensions"),
    );
  return {
    vectors: inputs.map((input) => vectorOf(featuresOf(input), dimensions)),
    usage: { input: inputs.reduce((sum, input) => sum + tokensOf(input), 0) },
    model: `mock/${model}`,
  };
}

function tokensOf(input: EmbedInput): number {
  return typeof input === "string" ? countTokens(input) : input.length;
}

/** How near two texts are, from 0 to 1: 1 for texts with the same words. */
export function nearness(one: string, other: string): number {
  const [a, b] = [one, other].map((text) => vectorOf(featuresOf(text), DIMENSIONS));
  const cosine = a!.reduce((sum, value, place) => sum + value * b![place]!, 0);
  return Math.min(1, Math.max(0, cosine));
}

/** Features with their weights: words, pieces of words, or token ids. */
function* featuresOf(input: EmbedInput): Generator<[feature: string, weight: number]> {
  if (typeof input !== "string") {
    for (const id of input) yield [`id ${id}`, WORD_WEIGHT];
    return;
  }
  for (const [word] of input.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    yield [`word ${word}`, WORD_WEIGHT];
    const whole = `<${word}>`;
    for (let at = 0; at + PIECE <= whole.length; at++)
      yield [`piece ${whole.slice(at, at + PIECE)}`, PIECE_WEIGHT];
  }
}

/** A vector of length 1. A text without words has the same direction as every other such text. */
function vectorOf(features: Iterable<[feature: string, weight: number]>, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const [feature, weight] of features) {
    const hash = Bun.hash.murmur32v3(feature);
    // The lowest bit is the sign, the others are the place.
    vector[(hash >>> 1) % dimensions]! += hash & 1 ? weight : -weight;
  }
  const length = Math.hypot(...vector);
  if (length === 0) return vector.fill(0, 1).fill(1, 0, 1);
  return vector.map((value) => value / length);
}
