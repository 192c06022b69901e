/** The keeper from outside: opens a store of answers. */
import { AnswerFile, type Limits } from "./answer-file.ts";
import { AnswerClient } from "./client.ts";
import { directLink } from "./direct-link.ts";

export { type Limits } from "./answer-file.ts";
export { type AnswerClient } from "./client.ts";
export { IN_MEMORY } from "./database.ts";

/** The limits that the configuration has by default. */
export const DEFAULT_LIMITS: Limits = { answerBytes: 32 * 1024 ** 2, items: 1_000, fileBytes: 2 * 1024 ** 3 };

/**
 * A store in this thread, which blocks while it reads and writes. Its file is opened by the first request.
 * @param path a file, or {@link IN_MEMORY}
 * @param now milliseconds since 1970
 */
export function openStore(
  path: string,
  limits: Partial<Limits> = {},
  now: () => number = Date.now,
): AnswerClient {
  const open = () => new AnswerFile(path, { ...DEFAULT_LIMITS, ...limits }, now);
  return new AnswerClient(directLink({ name: path, open }), now);
}
