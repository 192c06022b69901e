/** Reads a signed JSON Web Token in compact form. Nothing of it is trusted before its signature is verified. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import { type Algorithm, algorithmNamed } from "./algorithms.ts";
import { shown, TokenFault } from "./fault.ts";

/** Longer texts are no tokens for weir. Characters. */
export const MAX_LENGTH = 16_384;

/** Members of a header by which a token would bring or name the key that verifies it, or an extension that weir does not know. */
const FORBIDDEN = ["jwk", "jku", "x5u", "x5c", "crit", "b64", "zip", "enc"] as const;

export interface Token {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /** Name of its algorithm, and the algorithm. */
  readonly alg: string;
  readonly algorithm: Algorithm;
  readonly kid?: string;
  /** What the signature signs. */
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/**
 * Whether a text has the shape of a token: three parts with dots between them, the first of which can be JSON. It says nothing
 * about whether the token can be read.
 */
export function isTokenShaped(text: string): boolean {
  const first = text.indexOf(".");
  const second = text.indexOf(".", first + 1);
  if (first < 2 || second < first + 2 || text.includes(".", second + 1)) return false;
  // Base64url of `{"`, or of `{` with white space behind it.
  return /^e[wy][\w-]*$/.test(text.slice(0, first));
}

/** @throws TokenFault */
export function readToken(text: string): Token {
  if (text.length > MAX_LENGTH) throw new TokenFault("malformed", `it has ${text.length} characters`);
  const parts = text.split(".");
  if (parts.length !== 3) throw new TokenFault("malformed", `it has ${parts.length} parts instead of 3`);
  const [head, body, end] = parts as [string, string, string];
  const header = readPart(head, "header");
  const { alg, kid } = header;
  if (typeof alg !== "string") throw new TokenFault("algorithm", `its alg is ${shown(alg)}`);
  const algorithm = algorithmNamed(alg);
  if (!algorithm) throw new TokenFault("algorithm", `its alg is ${shown(alg)}, which weir does not accept`);
  const forbidden = FORBIDDEN.find((name) => Object.hasOwn(header, name));
  if (forbidden !== undefined) throw new TokenFault("header", `its header has ${forbidden}`);
  if (kid !== undefined && (typeof kid !== "string" || kid === "" || kid.length > 256))
    throw new TokenFault("header", `its kid is ${shown(kid)}`);
  const signature = decoded(end, "signature");
  if (algorithm.bytes !== undefined && signature.length !== algorithm.bytes)
    throw new TokenFault("signature", `its signature has ${signature.length} bytes`);
  return {
    ...{ header, alg, algorithm, signature },
    ...(kid !== undefined && { kid }),
    claims: readPart(body, "payload"),
    signed: new TextEncoder().encode(`${head}.${body}`),
  };
}

/** A part that is a JSON object. @throws TokenFault */
function readPart(part: string, what: string): JsonObject {
  const bytes = decoded(part, what);
  let value: unknown;
  let text = "";
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new TokenFault("malformed", `its ${what} is no JSON in UTF-8`);
  }
  if (!isObject(value)) throw new TokenFault("malformed", `its ${what} is no JSON object`);
  const twice = repeatedMember(text);
  if (twice !== undefined) throw new TokenFault("malformed", `its ${what} has ${shown(twice)} twice`);
  return value;
}

/** The bytes of a part. Every text has one spelling only, so that one token cannot appear as several. @throws TokenFault */
function decoded(part: string, what: string): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(part, "base64url");
  if (part === "" || bytes.toString("base64url") !== part)
    throw new TokenFault("malformed", `its ${what} is no base64url`);
  return new Uint8Array(bytes);
}

/**
 * The first member that an object has twice: parsers do not agree which one counts (RFC 7515 4).
 * @param text valid JSON of an object
 */
export function repeatedMember(text: string): string | undefined {
  const seen: Set<string>[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === "{") seen.push(new Set());
    // A list has no names: its commas separate values.
    else if (character === "[") seen.push(NO_NAMES);
    else if (character === "}" || character === "]") seen.pop();
    if (character === "{" || character === ",") isName = seen.at(-1) !== NO_NAMES;
    else if (character === ":" || character === "[") isName = false;
    if (character !== '"') continue;
    const end = endOfString(text, at);
    if (isName) {
      const name = JSON.parse(text.slice(at, end + 1)) as string;
      const names = seen.at(-1)!;
      if (names.has(name)) return name;
      names.add(name);
    }
    at = end;
  }
  return undefined;
}

const NO_NAMES = new Set<string>();

function endOfString(text: string, begin: number): number {
  let at = begin + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}
