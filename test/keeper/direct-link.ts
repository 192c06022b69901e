/** A keeper of answers in the same thread, which blocks while it reads and writes. */
import { AnswerClient } from "../../src/keeper/answers/client.ts";
import { AnswerKeeper } from "../../src/keeper/answers/keeper.ts";
import type { Connect } from "../../src/keeper/link.ts";
import type { AnswerSettings, Limits } from "../../src/keeper/settings.ts";

/** The limits that the configuration has by default. */
export const DEFAULT_LIMITS: Limits = { answerBytes: 32 * 1024 ** 2, items: 1_000, fileBytes: 2 * 1024 ** 3 };

/**
 * A started store in this thread.
 * @param path a file, or `:memory:`
 * @param now milliseconds since 1970
 */
export function openStore(
  path: string,
  limits: Partial<Limits> = {},
  now: () => number = Date.now,
): AnswerClient {
  const client = new AnswerClient(directLink({ path, limits: { ...DEFAULT_LIMITS, ...limits } }, now), {
    now,
  });
  void client.start();
  return client;
}

function directLink(settings: AnswerSettings, now: () => number): Connect {
  return ({ up, receive }) => {
    const keeper = new AnswerKeeper(settings, now);
    queueMicrotask(() => up(keeper.open()));
    return {
      send: (message) => {
        if ("ask" in message) keeper.handle(message, receive);
      },
      async close() {
        keeper.close();
      },
    };
  };
}
