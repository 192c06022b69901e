/**
 * Identity of requests. A request with an idempotency key is the same as an earlier one of the same gateway key
 * with the same path, bytes and idempotency key. Without one, the client's address and the SDK are the same too, and the SDK
 * counts its retries one by one.
 */
import type { HeaderReader } from "../../core/headers.ts";
import type { SoughtRequest } from "./messages.ts";

/** The client's name for the request, which it keeps for retries. draft-ietf-httpapi-idempotency-key-header. */
const IDEMPOTENCY_KEY = "idempotency-key";
/** How often an SDK of OpenAI or Anthropic has sent the request before. */
const RETRY_COUNT = "x-stainless-retry-count";
/** Headers that distinguish installations of an SDK. */
const SDK_HEADERS = [
  "user-agent",
  "x-stainless-lang",
  "x-stainless-package-version",
  "x-stainless-os",
  "x-stainless-arch",
  "x-stainless-runtime",
  "x-stainless-runtime-version",
];

/** A request as far as it says which one it is. */
export interface IdentifiedRequest {
  headers: HeaderReader;
  /** The URL; its host does not count. */
  url: string;
  /** Id of the gateway key; absent without keys. */
  key?: string | undefined;
  /** The client's address. */
  address: string;
  bytes?: Uint8Array;
}

/** @param salt random bytes, so that a digest does not tell which request it is of */
export function identityOf(request: IdentifiedRequest, salt: Uint8Array): SoughtRequest {
  const { headers, url, key, address, bytes } = request;
  const name = headers.get(IDEMPOTENCY_KEY) ?? "";
  const isNamed = name !== "";
  const place = key === undefined || !isNamed ? address : "";
  const sdk = isNamed ? [] : SDK_HEADERS.map((header) => headers.get(header) ?? "");
  const client = [key ?? "", place, ...sdk];
  const count = countOf(headers.get(RETRY_COUNT));
  return {
    digest: bytes ? sha256(salt, [...client, pathOf(url), name], bytes) : "",
    // Only refused requests and repeats are compared by their clients.
    client: !bytes || count > 0 ? sha256(salt, client) : "",
    count,
    isNamed,
  };
}

/** Whether the request may be the repetition of an earlier one. */
export function isRepeat({ count, isNamed }: SoughtRequest): boolean {
  return isNamed || count > 0;
}

function countOf(text: string | null): number {
  const count = text === null ? 0 : Number(text);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}

/** Path and query. */
function pathOf(url: string): string {
  const host = url.indexOf("//") + 2;
  const path = url.indexOf("/", host);
  return path < 0 ? "/" : url.slice(path);
}

function sha256(salt: Uint8Array, texts: readonly string[], bytes?: Uint8Array): string {
  const hash = new Bun.CryptoHasher("sha256").update(salt).update(JSON.stringify(texts));
  if (bytes) hash.update(bytes);
  return hash.digest("base64");
}
