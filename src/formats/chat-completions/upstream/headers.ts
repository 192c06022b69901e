/** Headers that pass in the native lane; credentials, organisation and project ids never do. */

/** The client's headers that go upstream. */
export const requestHeaders: readonly string[] = ["openai-beta", "x-client-request-id"];

/** The upstream's headers that reach the client. */
export const answerHeaders: readonly string[] = [
  "x-ratelimit-*",
  "openai-processing-ms",
  "openai-version",
  "openai-model",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
];
