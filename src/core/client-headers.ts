/** Hides the credentials of clients from codecs and plugins. */
import type { HeaderReader } from "./headers.ts";

const CREDENTIALS: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "cookie",
]);

/** The headers of a client without its credentials. */
export function withoutCredentials(headers: HeaderReader): HeaderReader {
  const isHidden = (name: string) => CREDENTIALS.has(name.toLowerCase());
  return {
    get: (name) => (isHidden(name) ? null : headers.get(name)),
    has: (name) => !isHidden(name) && headers.has(name),
    forEach: (visit) =>
      headers.forEach((value, name) => {
        if (!isHidden(name)) visit(value, name);
      }),
  };
}
