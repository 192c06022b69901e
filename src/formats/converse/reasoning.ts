/**
 * Who made reasoning, and the form of encrypted reasoning. Signatures are opaque; weir sends them back unchanged, only to the
 * provider that made them (src/formats/README.md#reasoning-and-signatures).
 */
import type { ModelFacts } from "./models.ts";

/** Anthropic accepts signatures of its models from every host. */
const CLAUDE_ORIGIN = "anthropic";

/** Returns the origin of a model's reasoning. @param provider its name */
export function reasoningOrigin(provider: string, { claude }: ModelFacts): string {
  return claude ? CLAUDE_ORIGIN : provider;
}

/** Encodes encrypted reasoning as `redactedContent`, whose bytes are, for Claude, the ASCII text that Anthropic itself sends. */
export function encodeRedacted(redacted: string, { claude }: ModelFacts): string {
  return claude ? Buffer.from(redacted, "latin1").toString("base64") : redacted;
}

/** Decodes `redactedContent`. @param pieces base64 of its parts, in order: a stream cuts the bytes and not the text */
export function decodeRedacted(pieces: readonly string[], { claude }: ModelFacts): string {
  const [only = ""] = pieces;
  if (!claude && pieces.length <= 1) return only;
  const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece, "base64")));
  return bytes.toString(claude ? "latin1" : "base64");
}
