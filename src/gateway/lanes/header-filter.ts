/** Header allow-lists, both ways: what is not listed does not pass. */
import type { HeaderReader } from "../../core/format.ts";

export type HeaderFilter = (headers: HeaderReader) => Record<string, string>;

/** Never passed on, whatever a list says: credentials, cookies, hop-by-hop, framing, and who the client is. */
const NEVER = new Set([
  "authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "cookie",
  "set-cookie",
  "host",
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  "forwarded",
  "content-length",
  "content-encoding",
  "server",
]);

/** @param allowed lower-case names; one that ends in `*` allows all that begin with what is before it. */
export function headerFilter(allowed: readonly string[]): HeaderFilter {
  const names = allowed.filter((name) => !name.endsWith("*") && !NEVER.has(name));
  const prefixes = allowed.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));
  return (headers) => {
    const passed: Record<string, string> = {};
    for (const name of names) {
      const value = headers.get(name);
      if (value !== null) passed[name] = value;
    }
    if (prefixes.length > 0) copyByPrefix(headers, prefixes, passed);
    return passed;
  };
}

function copyByPrefix(
  headers: HeaderReader,
  prefixes: readonly string[],
  passed: Record<string, string>,
): void {
  headers.forEach((value, name) => {
    if (NEVER.has(name) || name.startsWith("x-forwarded-")) return;
    if (prefixes.some((prefix) => name.startsWith(prefix))) passed[name] = value;
  });
}
