/** The sentence in a failed upstream's body, fit to reach a client. */
import type { Json } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { withoutKeys } from "../../core/error-text.ts";

/** How deep errors are wrapped in each other before the search is given up. */
const MAX_NESTING = 8;

/** Sentences with which proxies announce an error they wrap. */
const EMPTY_SENTENCE = /^provider returned error\.?$/i;

/**
 * The innermost sentence in an error body of any vendor's shape, without hosts, addresses and credentials, at most 2000
 * characters; `undefined` when there is none.
 */
export function readSentence(body: Json | undefined): string | undefined {
  const found = innermost(body, MAX_NESTING);
  return found === undefined ? undefined : cleanSentence(found);
}

/**
 * Proxies put a whole error as JSON text into `message`, OpenRouter puts the vendor's own into `metadata.raw`, FastAPI
 * servers put a list under `detail`.
 */
function innermost(value: Json | undefined, depth: number): string | undefined {
  if (typeof value === "string") return unwrapText(value, depth);
  if (depth === 0) return undefined;
  if (Array.isArray(value)) return joined(value.map((item) => innermost(item, depth - 1)));
  if (!isObject(value)) return undefined;
  if (typeof value.msg === "string" && Array.isArray(value.loc)) return located(value.msg, value.loc);
  const raw = isObject(value.metadata) ? innermost(value.metadata.raw, depth - 1) : undefined;
  const said = [value.message, value.error, value.detail, value.msg, value.errors]
    .map((member) => innermost(member, depth - 1))
    .find((sentence) => sentence !== undefined);
  return said === undefined || EMPTY_SENTENCE.test(said) ? (raw ?? said) : said;
}

/** A fault as FastAPI gives it: `{loc: ["body", "messages", 0, "role"], msg: "Field required"}`. */
function located(sentence: string, location: readonly Json[]): string {
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

function joined(sentences: (string | undefined)[]): string | undefined {
  const said = sentences.filter((sentence) => sentence !== undefined);
  return said.length > 0 ? said.join("; ") : undefined;
}

/** Longest sentence passed on. UTF-16 units. */
const MAX_SENTENCE = 2000;
/** Most of a sentence that is read, so that no pattern runs over a whole page. UTF-16 units. */
const MAX_READ = 2 * MAX_SENTENCE;
/** A word that reading cut off may be the beginning of a credential, which no pattern recognises. */
const CUT_WORD = /\S{1,256}$/;

const URLS = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)\]]+/gi;
const BRACKETED = /\[[0-9a-f:.]*:[0-9a-f:.]+(?:%\w+)?\](?::\d+)?/gi;
const HOSTS: readonly RegExp[] = [
  /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g,
  /\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|ai|dev|app|cloud|internal|local|svc|cluster|lan|home)\b(?::\d+)?/gi,
  /\blocalhost(?::\d+)?\b/gi,
];
/** What may be an IPv6 address without brackets: at least two colons, nothing but hexadecimal digits and dots. */
const IPV6 = /(?<![\w:.])[0-9a-f]{0,4}:[0-9a-f:.]*[0-9a-f:](?![\w:])/gi;

function cleanSentence(said: string): string {
  const read = said.length > MAX_READ ? said.slice(0, MAX_READ).replace(CUT_WORD, "") : said;
  // Masked before it is cut: a cut would leave half of a credential that no pattern recognises.
  const clean = withoutHosts(withoutKeys(read.replace(URLS, "[url]")));
  return clean.length > MAX_SENTENCE ? `${clean.slice(0, MAX_SENTENCE - 1).toWellFormed()}…` : clean;
}

function withoutHosts(said: string): string {
  const addressed = said.replace(BRACKETED, "[host]").replace(IPV6, maskIpv6);
  return HOSTS.reduce((left, pattern) => left.replace(pattern, "[host]"), addressed);
}

function maskIpv6(found: string): string {
  const address = found.replace(/(?<=[^:]):$/, "");
  return URL.canParse(`http://[${address}]/`) ? `[host]${found.slice(address.length)}` : found;
}
