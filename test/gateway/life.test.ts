/** The seams of calls: their order, what they cost without an owner, and the head that is held outside of them. */
import { expect, test } from "bun:test";
import { messagesFormat as messages } from "../../src/formats/messages/index.ts";
import { Attempt, Call } from "../../src/core/call.ts";
import { GatewayError } from "../../src/core/error.ts";
import { Clock } from "../../src/gateway/delivery/clock.ts";
import { Deadline } from "../../src/gateway/delivery/deadline.ts";
import { holdHead } from "../../src/gateway/delivery/held-stream.ts";
import type { Opened } from "../../src/gateway/lanes/lane.ts";
import { compose, enter } from "../../src/gateway/life.ts";
import { Registry } from "../../src/gateway/routing/registry.ts";
import { type Around, Entry, type Edited, PLACES, type AroundPlace } from "../../src/gateway/seams.ts";

import { TARGET } from "../helpers/ledger.ts";

const REGISTRY = new Registry({ plugins: [], formats: [messages], settings: () => ({}) });
const TIMEOUTS = {
  ...{ connectMs: 1e4, firstByteMs: 1e4, gapMs: 1e4, totalMs: 1e4 },
  ...{ heartbeatMs: 1e4, holdMs: 50, readMs: 1e4 },
};
const ANSWER: Opened = { kind: "json", status: 200, headers: {}, body: "{}" };

function edited(body: Edited["body"]): Edited {
  return { bytes: Buffer.from(JSON.stringify(body)), body, spanOf: () => undefined };
}

function entryOf(stream = false) {
  const call = new Call("req_1", "messages", new Headers());
  call.stream = stream;
  let parsed = 0;
  const read = {
    ...{ call, format: { id: "messages", client: messages.client! } },
    ...{ bytes: Buffer.from(`{"model":"m"}`), spanOf: () => undefined },
    get body() {
      parsed++;
      return { model: "m" };
    },
  };
  return {
    entry: new Entry(read, { operation: "generate", registry: REGISTRY }),
    deadline: new Deadline(call, new Clock(), TIMEOUTS),
    parsed: () => parsed,
  };
}

const part = (at: AroundPlace, run: Around) => ({ name: `part ${at}`, seams: { around: { at, run } } });

test("what is around a call runs by its place, from the client inwards", async () => {
  const order: string[] = [];
  const passing = (at: AroundPlace): Around => {
    return async (_, next) => {
      order.push(`> ${at}`);
      const opened = await next();
      order.push(`< ${at}`);
      return opened;
    };
  };
  const { around } = compose(PLACES.toReversed().map((at) => part(at, passing(at))));
  const { entry, parsed } = entryOf();
  expect(await around!(entry, () => Promise.resolve(ANSWER))).toBe(ANSWER);
  expect(order).toEqual([...PLACES.map((at) => `> ${at}`), ...PLACES.map((at) => `< ${at}`).toReversed()]);
  expect(parsed()).toBe(0);
});

test("a place has one owner; the fault names both", () => {
  const run: Around = (_, next) => next();
  const other = { ...part("cache", run), name: "other" };
  expect(() => compose([part("cache", run), part("tape", run), other])).toThrow(
    "part cache and other are both around calls at cache",
  );
});

test("without an owner the seams are absent, and no entry is made", async () => {
  expect(compose([{ name: "idle", seams: {} }])).toEqual({});
  const made = () => {
    throw new Error("an entry was made");
  };
  expect(await enter({}, entryOf().deadline, made, () => Promise.resolve(ANSWER))).toBe(ANSWER);
});

test("a part that is off now is not around a call; the others are", async () => {
  let isOn = false;
  const seen: string[] = [];
  const run = (name: string): Around => {
    return (_, next) => {
      seen.push(name);
      return next();
    };
  };
  const switched = {
    name: "s",
    seams: { around: { at: "capture" as const, run: run("s"), isOn: () => isOn } },
  };
  const alone = compose([switched]);
  expect(alone.around).toBeUndefined();
  const life = compose([switched, part("tape", run("tape"))]);
  const { entry, deadline } = entryOf();
  const ask = () =>
    enter(
      life,
      deadline,
      () => entry,
      () => Promise.resolve(ANSWER),
    );
  await ask();
  isOn = true;
  await ask();
  expect(alone.around).toBeDefined();
  expect(seen).toEqual(["tape", "tape", "s"]);
});

test("what looks at requests sees each once, and puts nothing around a call where nothing else is", async () => {
  const seen: unknown[] = [];
  const looking = {
    name: "l",
    seams: { looks: { at: "outline" as const, run: (entering: () => Entry) => void seen.push(entering()) } },
  };
  const { entry, deadline } = entryOf();
  const entering = () => entry;
  const alone = compose([looking]);
  expect(alone.around).toBeUndefined();
  const opens: unknown[] = [];
  const open = (given?: Entry) => (opens.push(given), Promise.resolve(ANSWER));
  expect(await enter(alone, deadline, entering, open)).toBe(ANSWER);
  expect([seen, opens]).toEqual([[entry], [undefined]]);
  // Behind a guard it sees what the guard hands on, and before a tape.
  const order: string[] = [];
  const passing =
    (name: string): Around =>
    (_, next) => (order.push(name), next());
  const life = compose([
    part("tape", passing("tape")),
    {
      ...looking,
      seams: { looks: { at: "outline", run: (make) => void order.push(`look ${make() === entry}`) } },
    },
    part("guard", passing("guard")),
  ]);
  await enter(life, deadline, entering, open);
  expect(order).toEqual(["guard", "look true", "tape"]);
  const two = [looking, part("outline", passing("other"))];
  expect(() => compose(two)).toThrow("l and part outline are both around calls at outline");
});

test("a changed request goes inwards, and nothing outside of its owner sees it", async () => {
  const seen: unknown[] = [];
  const life = compose([
    part("tape", (entry, next) => (seen.push(entry.body), next())),
    part("guard", async (entry, next) => {
      const opened = await next(edited({ model: "masked" }));
      seen.push(entry.body);
      return opened;
    }),
  ]);
  const { entry, deadline, parsed } = entryOf();
  await enter(
    life,
    deadline,
    () => entry,
    (inner) => (seen.push(inner!.body, Buffer.from(inner!.bytes).toString()), Promise.resolve(ANSWER)),
  );
  expect(seen).toEqual([{ model: "masked" }, { model: "masked" }, '{"model":"masked"}', { model: "m" }]);
  expect(parsed()).toBe(1);
});

test("a changed request that nothing reads is not parsed", () => {
  let parsed = 0;
  const content = {
    ...{ bytes: new Uint8Array(0), spanOf: () => undefined },
    get body() {
      parsed++;
      return {};
    },
  };
  const { operation, call } = entryOf().entry.with(content);
  expect([operation, call.id, parsed]).toEqual(["generate", "req_1", 0]);
});

test("a late verdict is a status while the head is held, and an error of the stream after that", async () => {
  for (const lateMs of [0, 200]) {
    const verdict: Around = async (_, next) => {
      await next();
      await Bun.sleep(lateMs);
      throw new GatewayError("invalid-request", "refused");
    };
    const { entry, deadline } = entryOf(true);
    // The answer of the provider has begun, or its head was sent into what is around it.
    const open = () => holdHead(Promise.resolve(ANSWER), deadline);
    const opening = enter(compose([part("guard", verdict)]), deadline, () => entry, open);
    if (lateMs === 0) {
      await expect(opening).rejects.toThrow("refused");
      continue;
    }
    setTimeout(() => deadline.tick(performance.now() + TIMEOUTS.holdMs), 10);
    const opened = await opening;
    const failed = Promise.withResolvers<unknown>();
    if (opened.kind !== "stream") throw new Error("the head is not held");
    expect(opened.source.isWaiting).toBe(true);
    opened.source.take({ piece: () => {}, end: () => {}, fail: failed.resolve });
    expect(await failed.promise).toBeInstanceOf(GatewayError);
  }
});

test("two heads that are held at once both go when the time is over", async () => {
  const { deadline } = entryOf(true);
  const never = new Promise<Opened>(() => {});
  const both = [holdHead(never, deadline), holdHead(never, deadline)];
  deadline.tick(performance.now() + 2 * TIMEOUTS.holdMs);
  expect((await Promise.all(both)).map(({ kind }) => kind)).toEqual(["stream", "stream"]);
});

test("every part hears of a refusal", () => {
  const heard: number[] = [];
  const hears = (name: string) => ({
    name,
    seams: { refused: (_: unknown, status: number) => heard.push(status) },
  });
  const { refused } = compose([hears("one"), hears("two")]);
  const http = new Request("http://weir/v1/messages");
  refused!({ call: entryOf().entry.call, http, client: messages.client!, address: () => "" }, 503);
  expect(heard).toEqual([503, 503]);
});

test("a call goes on without its client while one part wants it, and all are asked", () => {
  const call = new Call("req_1", "messages", new Headers());
  expect(call.leave()).toBe(false);
  const asked: string[] = [];
  call.stay(() => asked.push("one") > 1);
  expect(call.leave()).toBe(false);
  call.stay(() => true);
  call.stay(() => asked.push("three") < 0);
  expect(call.leave()).toBe(true);
  expect(asked).toEqual(["one", "one", "three"]);
});

test("each part hears what is sent, and a gateway without such parts has nothing to call", () => {
  const heard: string[] = [];
  const hearing = (name: string) => ({ name, seams: { sent: () => void heard.push(name) } });
  const { entry } = entryOf();
  const running = new Attempt(entry.call, TARGET);
  compose([hearing("one"), part("tape", (_, next) => next()), hearing("two")]).sent!(running, entry);
  expect(heard).toEqual(["one", "two"]);
  expect(compose([part("tape", (_, next) => next())]).sent).toBeUndefined();
});
