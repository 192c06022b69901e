/** Calls that wait for the keeper. */
import { expect, test } from "bun:test";
import type { BooksChannel } from "../../src/ledger/channel.ts";
import { Asks } from "../../src/ledger/worker/asks.ts";
import { until } from "../helpers/serving.ts";

test("a call to which the keeper grants too little again and again gives up in its time", async () => {
  let sent = 0;
  let heard: string | undefined;
  const channel: Pick<BooksChannel, "isUp" | "send"> = {
    isUp: true,
    send(message) {
      if (message.kind !== "ask") return;
      sent++;
      setImmediate(() => asks.grant(message.number, []));
    },
  };
  const asks: Asks = new Asks(channel as BooksChannel, () => undefined);
  asks.ask(
    {
      shorts: () => [],
      take: () => false,
      granted: () => (heard = "granted"),
      refused: () => (heard = "refused"),
      silent: () => (heard = "silent"),
    },
    50,
  );
  expect(await until(() => heard !== undefined, 5_000)).toBe(true);
  expect([heard, sent > 1]).toEqual(["silent", true]);
});
