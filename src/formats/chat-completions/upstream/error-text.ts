/** The sentence in a failed upstream's body, fit to reach a client (contract E.10.1). */
import type { Json } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";

/** How deep errors are wrapped in each other before the search is given up. */
const MAX_NESTING = 8;

/** Sentences of proxies that say nothing; what they wrap says it. */
const EMPTY_SENTENCE = /^provider returned error\.?$/i;

/** The innermost sentence in an error body of any vendor's shape; `undefined` when there is none. */
export function readSentence(body: Json | undefined): string | undefined {
  const found = innermost(body, MAX_NESTING);
  return found === undefined ? undefined : cleanSentence(found);
}

/**
 * Proxies put a whole error as JSON text into `message` (pitfall: nested error JSON), OpenRouter puts the vendor's own
 * into `metadata.raw`, FastAPI servers into a list under `detail`.
 */
function innermost(value: Json | undefined, depth: number): string | undefined {
  if (typeof value === "string") return unwrapText(value, depth);
  if (depth === 0) return undefined;
  if (Array.isArray(value)) return joined(value.map((item) => innermost(item, depth - 1)));
  if (!isObject(value)) return undefined;
  const raw = isObject(value.metadata) ? innermost(value.metadata.raw, depth - 1) : undefined;
  const said = [value.message, value.error, value.detail, value.msg, value.errors]
    .map((member) => innermost(member, depth - 1))
    .find((sentence) => sentence !== undefined);
  return said === undefined || EMPTY_SENTENCE.test(said) ? (raw ?? said) : said;
}

function unwrapText(text: string, depth: number): string | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const nested = depth > 0 && /^[{[]/.test(trimmed) ? parseJson(trimmed) : undefined;
  return (nested !== undefined ? innermost(nested, depth - 1) : undefined) ?? trimmed;
}

function joined(sentences: (string | undefined)[]): string | undefined {
  const said = sentences.filter((sentence) => sentence !== undefined);
  return said.length > 0 ? said.join("; ") : undefined;
}

/** Longest sentence passed on, in UTF-16 units. */
const MAX_SENTENCE = 2000;

/** Hosts, addresses and credentials of the upstream do not reach a client. */
const SECRETS: readonly [RegExp, string][] = [
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)\]]+/gi, "[url]"],
  [/\b(?:Bearer|Basic)\s+[\w.~+/=*-]{6,}/gi, "[credential]"],
  [/\b(?:sk|pk|rk|gsk|xai|pplx|hf|key|api[-_]?key)[-_][\w*.-]{4,}/gi, "[credential]"],
  [/\bAKIA[0-9A-Z]{12,}\b|\bAIza[\w-]{20,}|\beyJ[\w-]{10,}\.[\w.-]+/g, "[credential]"],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, "[host]"],
  [/\[[0-9a-f:]*:[0-9a-f:]+\](?::\d+)?/gi, "[host]"],
  [
    /\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|ai|dev|app|cloud|internal|local|svc|cluster|lan|home)\b(?::\d+)?/gi,
    "[host]",
  ],
  [/\blocalhost(?::\d+)?\b/gi, "[host]"],
];

/** One line of at most 2000 characters, without hosts, addresses and credentials. */
export function cleanSentence(text: string): string {
  // A secret that the cut would halve must not slip through: clean first, on a bounded piece.
  const bounded = text.slice(0, 2 * MAX_SENTENCE);
  const clean = SECRETS.reduce((sentence, [pattern, put]) => sentence.replace(pattern, put), bounded);
  return clean.length > MAX_SENTENCE ? `${clean.slice(0, MAX_SENTENCE - 1).toWellFormed()}…` : clean;
}
