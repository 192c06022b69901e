/** Read access to headers, with lower-case names; a `Headers` object implements it. */
export interface HeaderReader {
  get(name: string): string | null;
  has(name: string): boolean;
  forEach(visit: (value: string, name: string) => void): void;
}

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
