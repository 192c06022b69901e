/** Header allow-lists for requests and answers: weir passes only listed headers. */
import type { UpstreamAddress } from "../../core/format.ts";
import type { HeaderReader } from "../../core/headers.ts";

export type HeaderFilter = (headers: HeaderReader) => Record<string, string>;

/** The header allow-lists of a format or a dialect. */
export type HeaderLists = Pick<UpstreamAddress, "requestHeaders" | "answerHeaders">;

const filters = new WeakMap<HeaderLists, { request: HeaderFilter; answer: HeaderFilter }>();

/** The compiled header allow-lists of a format or a dialect. */
export function headerFilters(lists: HeaderLists): { request: HeaderFilter; answer: HeaderFilter } {
  let found = filters.get(lists);
  if (!found) {
    found = { request: headerFilter(lists.requestHeaders), answer: headerFilter(lists.answerHeaders) };
    filters.set(lists, found);
  }
  return found;
}

/**
 * Headers that no list can allow: credentials, cookies, hop-by-hop and framing headers, the client's identity, and the client's
 * trace, whose ids would connect its calls.
 */
const FORBIDDEN = new Set([
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
  "traceparent",
  "tracestate",
  "baggage",
]);

/** @param allowed lower-case names; `name-*` allows all names that begin with `name-` */
export function headerFilter(allowed: readonly string[]): HeaderFilter {
  const names = allowed.filter((name) => !name.endsWith("*") && !FORBIDDEN.has(name));
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
    for (const prefix of prefixes)
      if (name.startsWith(prefix)) {
        if (!FORBIDDEN.has(name) && !name.startsWith("x-forwarded-")) passed[name] = value;
        return;
      }
  });
}
