/** Calls that wait for the keeper. */
import { expect, test } from "bun:test";
import type { BooksChannel } from "../../src/ledger/channel.ts";
import type { BooksUp } from "../../src/ledger/messages.ts";
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

test("while a keeper passes calls wait for the next one longer than for one that is away", async () => {
  const sent: number[] = [];
  const channel = {
    isUp: false,
    send: (message: BooksUp) => void ("number" in message && sent.push(message.number!)),
  };
  const asks = new Asks(channel as unknown as BooksChannel, () => undefined);
  const ask = () => {
    const heard: string[] = [];
    asks.ask({
      shorts: () => [],
      take: () => true,
      granted: () => heard.push("granted"),
      refused: () => heard.push("refused"),
      silent: () => heard.push("silent"),
    });
    return heard;
  };
  asks.resend();
  const before = ask();
  asks.passes();
  const meanwhile = ask();
  // The next keeper is connected, and does not know yet what its workers have.
  channel.isUp = true;
  asks.resend();
  const after = ask();
  await Bun.sleep(3_300);
  expect([before, meanwhile, after]).toEqual([["silent"], [], []]);
  for (const number of [...new Set(sent)].slice(1)) asks.grant(number, []);
  expect([meanwhile, after]).toEqual([["granted"], ["granted"]]);
  channel.isUp = false;
  const later = ask();
  await Bun.sleep(400);
  expect(later).toEqual(["silent"]);
});
