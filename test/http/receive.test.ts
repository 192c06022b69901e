/** Reading a body with a receiver: pieces come at once, an end or a failure when their cause has finished. */
import { expect, test } from "bun:test";
import { Stop } from "../../src/core/stop.ts";
import { GatewayError } from "../../src/core/error.ts";
import { Exchange } from "../../src/http/exchange.ts";
import type { Receiver } from "../../src/http/index.ts";

const HEAD = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

/** An exchange whose head has come. `log` has what its receiver got and what it asked of the connection, in order. */
function open() {
  const log: string[] = [];
  const stop = new Stop();
  const exchange = new Exchange("", [], stop);
  exchange.attach({
    pause: () => log.push("pause"),
    resume: () => log.push("resume"),
    abandon: () => log.push("abandon"),
  });
  const receiver: Receiver = {
    piece: (bytes) => log.push(`piece ${bytes.length > 20 ? bytes.length : Buffer.from(bytes).toString()}`),
    end: () => log.push("end"),
    fail: (reason) => log.push(`fail ${(reason as Error).message}`),
  };
  const receive = (text: string) => exchange.receive(Buffer.from(text));
  receive(HEAD);
  return { exchange, receiver, receive, stop, log };
}

test("a piece reaches a waiting receiver inside of the data handler, and is not given twice", () => {
  const { exchange, receiver, receive, log } = open();
  exchange.take(receiver);
  receive(chunk("a") + chunk("b"));
  expect(log).toEqual(["piece ab"]);
  receive(chunk("c"));
  expect(log).toEqual(["piece ab"]);
  exchange.take(receiver);
  expect(log).toEqual(["piece ab", "piece c"]);
});

test("the connection pauses when nobody takes, and resumes at the next read", () => {
  const { exchange, receiver, receive, log } = open();
  const large = "x".repeat(20_000);
  exchange.take(receiver);
  receive(chunk(large));
  expect(log).toEqual(["pause", "piece 20000"]);
  exchange.take(receiver);
  expect(log).toEqual(["pause", "piece 20000", "resume"]);
  log.length = 0;
  receive(chunk("a"));
  for (let sent = 0; sent < 4; sent++) receive(chunk(large));
  expect(log).toEqual(["piece a", "pause"]);
});

test("a receiver that cancels at the last piece does not close the connection of a complete answer", () => {
  const { exchange, receiver, receive, log } = open();
  const cancelling: Receiver = { ...receiver, piece: () => void exchange.cancel() };
  exchange.take(cancelling);
  receive(chunk("x".repeat(20_000)) + "0\r\n\r\n");
  expect(exchange.done).toBeTrue();
  expect(log).toEqual([]);
});

test("a receiver that cancels earlier closes it", () => {
  const { exchange, receiver, receive, log } = open();
  exchange.take({ ...receiver, piece: () => void exchange.cancel() });
  receive(chunk("a"));
  expect(log).toEqual(["abandon"]);
});

test("whoever aborts a call finishes before the receiver is told", async () => {
  const { exchange, receiver, stop, log } = open();
  exchange.take(receiver);
  stop.abort(new GatewayError("cancelled", "left"));
  log.push("aborted");
  await Bun.sleep(0);
  expect(log).toEqual(["abandon", "aborted", "fail left"]);
});

test("the end comes once, also to a receiver that asks after it", async () => {
  const { exchange, receiver, receive, log } = open();
  exchange.take(receiver);
  receive(chunk("a") + "0\r\n\r\n");
  exchange.take(receiver);
  await Bun.sleep(0);
  expect(log).toEqual(["piece a", "end"]);
});
