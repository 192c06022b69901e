/** Reads the error message in the body of a failed upstream and masks what a client must not see. */
import type { Json } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { withoutKeys } from "../../core/error-text.ts";

/** Maximum depth of nested errors that weir searches. */
const MAX_NESTING = 8;

/** Messages of proxies that only announce a wrapped error. */
const EMPTY_SENTENCE = /^provider returned error\.?$/i;

/**
 * Returns the innermost message in an error body of any vendor, with hosts, addresses and credentials masked, at most
 * 2000 characters; `undefined` if there is none.
 */
export function readSentence(body: Json | undefined): string | undefined {
  const found = innermost(body, MAX_NESTING);
  return found === undefined ? undefined : cleanSentence(found);
}

/**
 * Proxies put a whole error as JSON text into `message`, OpenRouter puts the vendor's error into `metadata.raw`, FastAPI
 * servers put a list into `detail`.
 */
function innermost(value: Json | undefined, depth: number): string | undefined {
  if (typeof value === "string") return unwrapText(value, depth);
  if (depth === 0) return undefined;
  if (Array.isArray(value)) return joinMessages(value.map((item) => innermost(item, depth - 1)));
  if (!isObject(value)) return undefined;
  if (typeof value.msg === "string" && Array.isArray(value.loc)) return formatLocation(value.msg, value.loc);
  const raw = isObject(value.metadata) ? innermost(value.metadata.raw, depth - 1) : undefined;
  const message = [value.message, value.error, value.detail, value.msg, value.errors]
    .map((member) => innermost(member, depth - 1))
    .find((sentence) => sentence !== undefined);
  return message === undefined || EMPTY_SENTENCE.test(message) ? (raw ?? message) : message;
}

/** Formats a validation error of FastAPI: `{loc: ["body", "messages", 0, "role"], msg: "Field required"}`. */
function formatLocation(sentence: string, location: readonly Json[]): string {
  const path = location.filter((step) => typeof step === "string" || typeof step === "number");
  const member = path.slice(path[0] === "body" ? 1 : 0).join(".");
  return member === "" ? sentence : `${member}: ${sentence}`;
}

function unwrapText(value: string, depth: number): string | undefined {
  const trimmed = value.trim();
  if (trimmed === "") return undefined;
  const nested = depth > 0 && /^[{[]/.test(trimmed) ? parseJson(trimmed) : undefined;
  return (nested !== undefined ? innermost(nested, depth - 1) : undefined) ?? trimmed;
}

function joinMessages(sentences: (string | undefined)[]): string | undefined {
  const message = sentences.filter((sentence) => sentence !== undefined);
  return message.length > 0 ? message.join("; ") : undefined;
}

/** Maximum length of a message for the client, in UTF-16 units. */
const MAX_SENTENCE = 2000;
/** Length of a message that weir reads, in UTF-16 units: no pattern may run over a whole page. */
const MAX_READ = 2 * MAX_SENTENCE;
/** The word at the cut may be the beginning of a credential, which no pattern recognises. */
const CUT_WORD = /\S{1,256}$/;

const URLS = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)\]]+/gi;
const BRACKETED = /\[[0-9a-f:.]*:[0-9a-f:.]+(?:%\w+)?\](?::\d+)?/gi;
const HOSTS: readonly RegExp[] = [
  /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g,
  /\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|ai|dev|app|cloud|internal|local|svc|cluster|lan|home)\b(?::\d+)?/gi,
  /\blocalhost(?::\d+)?\b/gi,
];
/** Candidates for IPv6 addresses without brackets: at least two colons, only hexadecimal digits and dots. */
const IPV6 = /(?<![\w:.])[0-9a-f]{0,4}:[0-9a-f:.]*[0-9a-f:](?![\w:])/gi;

function cleanSentence(message: string): string {
  const read = message.length > MAX_READ ? message.slice(0, MAX_READ).replace(CUT_WORD, "") : message;
  // Mask before truncating: no pattern recognises half a credential.
  const clean = withoutHosts(withoutKeys(read.replace(URLS, "[url]")));
  return clean.length > MAX_SENTENCE ? `${clean.slice(0, MAX_SENTENCE - 1).toWellFormed()}…` : clean;
}

function withoutHosts(message: string): string {
  const addressed = message.replace(BRACKETED, "[host]").replace(IPV6, maskIpv6);
  return HOSTS.reduce((left, pattern) => left.replace(pattern, "[host]"), addressed);
}

function maskIpv6(found: string): string {
  const address = found.replace(/(?<=[^:]):$/, "");
  return URL.canParse(`http://[${address}]/`) ? `[host]${found.slice(address.length)}` : found;
}
