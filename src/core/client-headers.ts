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

/** Whether a header carries a credential of a client. */
export function isCredential(name: string): boolean {
  return CREDENTIALS.has(name.toLowerCase());
}

/** The headers of a client without its credentials. */
export function withoutCredentials(headers: HeaderReader): HeaderReader {
  return {
    get: (name) => (isCredential(name) ? null : headers.get(name)),
    has: (name) => !isCredential(name) && headers.has(name),
    forEach: (visit) =>
      headers.forEach((value, name) => {
        if (!isCredential(name)) visit(value, name);
      }),
  };
}
