/** Headers that pass in the native lane; credentials never do. */

/** The client's headers that go upstream. */
export const requestHeaders: readonly string[] = ["anthropic-version", "anthropic-beta", "x-app"];

/** The upstream's headers that reach the client; organisation and workspace ids stay inside. */
export const answerHeaders: readonly string[] = [
  "anthropic-ratelimit-*",
  "anthropic-priority-*",
  "anthropic-fast-*",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
];
