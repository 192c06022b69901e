/** The memory of kept answers, who may get them, and what other workers say when they end. */
import { expect, test } from "bun:test";
import { Call } from "../../../../core/call.ts";
import { NO_LEDGER } from "../../../../core/ledger.ts";
import type { RepeatChannel, RepeatDown } from "../../messages.ts";
import { Clock } from "../../../../gateway/delivery/clock.ts";
import type { ByteSource } from "../../../../gateway/delivery/stream.ts";
import type { Opened } from "../../../../gateway/lanes/lane.ts";
import type { Receiver } from "../../../../gateway/lanes/transport.ts";
import { paidBy } from "../../columns.ts";
import { PaidOnce, type PaidOnceOptions } from "../../paid-once.ts";
import { Repeats } from "../../keeper.ts";

const OPTIONS = { keepMs: 120_000, readOnMs: 30_000, maxBytes: 8 * 1024 ** 2, totalBytes: 64 * 1024 ** 2 };
const TIMEOUTS = {
  ...{ connectMs: 1000, firstByteMs: 1000, gapMs: 60_000, totalMs: 60_000 },
  ...{ heartbeatMs: 1000, holdMs: 1000, readMs: 1000 },
};

const MODELS = { servedBy: () => [] };

function paidOnce(options: Partial<PaidOnceOptions> = {}, repeats?: RepeatChannel): PaidOnce {
  const context = { clock: new Clock(), ledger: NO_LEDGER, repeats };
  return new PaidOnce({ ...OPTIONS, ...options }, TIMEOUTS, context);
}

let calls = 0;
const callOf = () => new Call(`req_${++calls}`, "chat-completions", new Headers());

interface Asked {
  name?: string;
  count?: number;
  key?: string;
  address?: string;
  url?: string;
  bytes?: string;
}

function requestOf({ name, count, key, address = "10.0.0.1", url = "/v1/chat", bytes = "{}" }: Asked) {
  const headers = new Headers();
  if (name !== undefined) headers.set("idempotency-key", name);
  if (count !== undefined) headers.set("x-stainless-retry-count", String(count));
  return { headers, url: `http://gateway${url}`, key, address, bytes: Buffer.from(bytes) };
}

const json = (body: string): Opened => ({ kind: "json", status: 200, headers: {}, body });
const textOf = (opened: Opened) =>
  opened.kind === "json" && Buffer.from(opened.body as Uint8Array).toString();

/** Asks. @returns the answer, and whether it is a kept one */
async function ask(gateway: PaidOnce, asked: Asked, body = "new"): Promise<[text: unknown, isKept: boolean]> {
  const call = callOf();
  const opened = await gateway.take(call, requestOf(asked), async () => json(body), MODELS);
  return [textOf(opened) || (opened as { body: unknown }).body, paidBy.get(call) !== undefined];
}

test("the memory for all kept answers has a limit, and the oldest make room", async () => {
  const totalBytes = 1024 ** 2;
  const gateway = paidOnce({ totalBytes });
  const body = "x".repeat(50_000);
  for (let number = 0; number < 200; number++) {
    await ask(gateway, { name: `n${number}` }, body);
    expect(gateway.bytes).toBeLessThanOrEqual(totalBytes);
  }
  expect(gateway.bytes).toBeGreaterThan(totalBytes / 2);
  expect((await ask(gateway, { name: "n199" }))[1]).toBe(true);
  expect((await ask(gateway, { name: "n0" }))[1]).toBe(false);
  gateway.close();
  expect(gateway.bytes).toBe(0);
});

test("a kept answer is dropped after keepMs", async () => {
  const gateway = paidOnce({ keepMs: 1 });
  await ask(gateway, { name: "short" });
  await Bun.sleep(600);
  expect(gateway.bytes).toBe(0);
});

test("an answer that was delivered takes no memory", async () => {
  const gateway = paidOnce();
  for (let number = 0; number < 50; number++) await ask(gateway, { bytes: `{"n":${number}}` });
  expect(gateway.bytes).toBe(0);
});

test("a kept answer is only for the same gateway key, path, bytes and idempotency key", async () => {
  const gateway = paidOnce();
  const first = { key: "key_a", name: "n", bytes: '{"a":1}' };
  await ask(gateway, first, "kept");
  const others: Asked[] = [
    { ...first, key: "key_b" },
    { ...first, name: "m" },
    { ...first, bytes: '{"a":2}' },
    { ...first, url: "/v1/messages" },
    { ...first, url: "/v1/chat?beta=1" },
  ];
  for (const other of others) expect(await ask(gateway, other)).toEqual(["new", false]);
  expect(await ask(gateway, { ...first, address: "10.0.0.2" })).toEqual(["kept", true]);
});

test("without gateway keys a kept answer is only for the same client address", async () => {
  const gateway = paidOnce();
  await ask(gateway, { name: "n" }, "kept");
  expect(await ask(gateway, { name: "n", address: "10.0.0.2" })).toEqual(["new", false]);
  expect(await ask(gateway, { name: "n" })).toEqual(["kept", true]);
});

/** Asks, and leaves before the answer comes. */
async function broken(gateway: PaidOnce, asked: Asked): Promise<void> {
  const call = callOf();
  const taken = gateway.take(
    call,
    requestOf(asked),
    async () => {
      expect(call.leave()).toBe(true);
      return json("kept");
    },
    MODELS,
  );
  await taken;
}

test("a repeat without an idempotency key is of the same address and the next in the count", async () => {
  const gateway = paidOnce();
  await broken(gateway, { key: "k" });
  const others = [{ count: 1, address: "10.0.0.2" }, { count: 2 }, { count: 0 }, {}];
  for (const other of others) expect(await ask(gateway, { key: "k", ...other })).toEqual(["new", false]);
  expect(await ask(gateway, { key: "k", count: 1 })).toEqual(["kept", true]);
  expect(await ask(gateway, { key: "k", count: 1 })).toEqual(["new", false]);
});

test("a repeat is a new call while the same client was refused before weir read its request", async () => {
  const gateway = paidOnce();
  await broken(gateway, {});
  const { bytes: _, ...unread } = requestOf({});
  gateway.refused(unread, 400);
  gateway.refused({ ...unread, address: "10.0.0.2" }, 429);
  gateway.refused(unread, 429);
  expect(await ask(gateway, { count: 1 })).toEqual(["new", false]);
});

/** Two workers and their keeper, in one process. */
function twoWorkers() {
  const keeper = new Repeats();
  const worker = () => {
    let up = true;
    let events: Parameters<RepeatChannel["listen"]>[0] | undefined;
    const connection = keeper.connect((message: RepeatDown) =>
      queueMicrotask(() => up && events?.message(structuredClone(message))),
    );
    const channel: RepeatChannel = {
      get isUp() {
        return up;
      },
      send: (message) => queueMicrotask(() => connection.receive(structuredClone(message))),
      listen(given) {
        events = given;
        given.up();
      },
    };
    return {
      gateway: paidOnce({}, channel),
      die() {
        up = false;
        connection.ended();
      },
      keeperDies() {
        up = false;
        events?.down();
      },
    };
  };
  return [worker(), worker()] as const;
}

const settled = () => Bun.sleep(2);

test("a worker finds the answer of another one, and a refusal that another one noted", async () => {
  const [one, other] = twoWorkers();
  await settled();
  await broken(one.gateway, {});
  await broken(one.gateway, { bytes: "refused" });
  other.gateway.refused((({ bytes: _, ...unread }) => unread)(requestOf({ address: "10.0.0.9" })), 429);
  expect(await ask(other.gateway, { count: 1 })).toEqual(["kept", true]);
  const { bytes: _, ...unread } = requestOf({});
  one.gateway.refused(unread, 429);
  expect(await ask(other.gateway, { count: 1, bytes: "refused" })).toEqual(["new", false]);
});

class Stalled implements ByteSource {
  receiver: Receiver | undefined;
  isStopped = false;
  async begin(): Promise<void> {}
  take(receiver: Receiver): void {
    this.receiver = receiver;
  }
  stop(): void {
    this.isStopped = true;
  }
}

/** A repeat at one worker follows a stream of the other one. */
async function followed() {
  const workers = twoWorkers();
  const [one, other] = workers;
  await settled();
  const source = new Stalled();
  const stream = (): Opened => ({ kind: "stream", status: 200, headers: {}, source });
  await one.gateway.take(callOf(), requestOf({ name: "n" }), async () => stream(), MODELS);
  const opened = await other.gateway.take(
    callOf(),
    requestOf({ name: "n" }),
    async () => json("new"),
    MODELS,
  );
  if (opened.kind !== "stream") throw new Error("The answer of the other worker was not found.");
  const got: string[] = [];
  opened.source.take({
    piece: (bytes) => void got.push(Buffer.from(bytes).toString()),
    end: () => void got.push("end"),
    fail: (thrown) => void got.push(`failed: ${(thrown as Error).message}`),
  });
  await settled();
  return { one, other, source, got };
}

test("a repeat fails if the worker with its answer ends, and never looks whole", async () => {
  const { one, got } = await followed();
  one.die();
  await settled();
  expect(got).toEqual([
    "failed: The process of the gateway that had the answer has ended; repeat the request.",
  ]);
});

test("a repeat fails if the keeper ends, and a later one is a new call", async () => {
  const { other, got } = await followed();
  other.keeperDies();
  await settled();
  expect(got.length).toBe(1);
  expect(got[0]).toStartWith("failed: ");
  expect(await ask(other.gateway, { name: "n" })).toEqual(["new", false]);
});

test("pieces and the end of a stream pass from worker to worker", async () => {
  const { source, got } = await followed();
  source.receiver!.piece(Buffer.from("one"));
  await settled();
  expect(got).toEqual(["one"]);
});
