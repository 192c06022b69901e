/** Whose client asks for files or batches, on paths that several vendors have. The id in a path never decides. */

export type Dialect = "openai" | "anthropic" | "google";

export function dialectOf({ headers, url }: Request): Dialect {
  if (headers.has("anthropic-version")) return "anthropic";
  const { pathname, searchParams } = new URL(url);
  if (headers.has("x-goog-api-key") || headers.has("x-goog-api-client") || searchParams.has("key"))
    return "google";
  if (/^\/(?:v1beta|upload|download)\//.test(pathname) || /:[a-zA-Z]+$/.test(pathname)) return "google";
  return "openai";
}
