/** The store over a socket and in a thread: the same promises, and what happens when the keeper ends. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeFrame, FrameReader } from "../../src/process/frames.ts";
import { AnswerClient } from "../../src/keeper/answers/client.ts";
import { listenKeeper } from "../../src/keeper/process.ts";
import type { AnswerAsk } from "../../src/keeper/protocol.ts";
import { IN_MEMORY } from "../../src/keeper/settings.ts";
import { socketLink } from "../../src/keeper/socket-link.ts";
import { FirstRequest } from "../../src/run/first-request.ts";
import { threadLink } from "../../src/keeper/thread-link.ts";
import { until } from "../helpers/serving.ts";
import { answerOf, describeStore, itemOf, type OpenStore, PATIENT_MS, refusal } from "./suite.ts";

const NO_BOOKS = Promise.resolve({});

setDefaultTimeout(120_000);

test("an object that looks like the place of a byte array stays an object", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const message = {
    a: { bytes: 5 },
    b: [{ bytes: { json: { bytes: 7 } } }],
    c: bytes,
    d: { bytes, e: { bytes } },
  };
  let read: unknown;
  new FrameReader((taken) => (read = taken)).push(encodeFrame(message));
  expect(JSON.stringify(read)).toBe(
    JSON.stringify(message, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toJSON() : value,
    ),
  );
});

const folder = mkdtempSync(join(tmpdir(), "weir-links-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LIMITS = { answerBytes: 100_000, items: 40, fileBytes: 1e9 };
const LARGE = { ...LIMITS, answerBytes: 50_000_000 };
let names = 0;
const fresh = (ending: string) => join(folder, `${names++}.${ending}`);

async function overSocket(): Promise<OpenStore> {
  let now = 0;
  const path = fresh("sock");
  const keeper = await listenKeeper(
    path,
    { answers: { path: IN_MEMORY, limits: LIMITS } },
    NO_BOOKS,
    () => now,
  );
  const store = new AnswerClient(socketLink(path), { now: () => now });
  await store.start();
  const close = async () => {
    await store.close();
    keeper.close();
  };
  return { store, setTime: (time) => void (now = time), close };
}

describe("over a socket", () => {
  describeStore(overSocket, LIMITS);

  test("what one worker stored, the others see", async () => {
    const path = fresh("sock");
    const keeper = await listenKeeper(path, { answers: { path: IN_MEMORY, limits: LIMITS } }, NO_BOOKS);
    const workers = Array.from({ length: 4 }, () => new AnswerClient(socketLink(path)));
    await Promise.all(workers.map((worker) => worker.start()));
    const ids = Array.from({ length: 400 }, (_, n) => `n${n}`);
    const outcomes = await Promise.all(
      ids.map(async (id, n) => {
        const stored = await workers[n % 4]!.put(answerOf(id), PATIENT_MS);
        return [stored, (await workers[(n + 1) % 4]!.get(id, "config:alice"))?.id];
      }),
    );
    expect(outcomes).toEqual(ids.map((id) => ["stored", id]));
    await Promise.all(workers.map((worker) => worker.close()));
    keeper.close();
  });

  test("a large answer crosses in pieces, and small ones behind it arrive", async () => {
    const path = fresh("sock");
    const keeper = await listenKeeper(path, { answers: { path: IN_MEMORY, limits: LARGE } }, NO_BOOKS);
    const worker = new AnswerClient(socketLink(path));
    const text = Array.from({ length: 400_000 }, (_, n) => `${n * 7919}`).join(" ");
    const large = answerOf("large", { input: [itemOf("i", text), itemOf("j", text)] });
    const puts = [worker.put(large, PATIENT_MS), worker.put(answerOf("small"), PATIENT_MS)];
    void worker.start();
    expect(await Promise.all(puts)).toEqual(["stored", "stored"]);
    expect(await worker.get("large", "config:alice")).toEqual(large);
    await worker.close();
    keeper.close();
  });

  test("a keeper that ends rejects what it had, and the next one gets what comes later", async () => {
    const path = fresh("sock");
    const file = fresh("db");
    const first = await listenKeeper(path, { answers: { path: file, limits: LIMITS } }, NO_BOOKS);
    const worker = new AnswerClient(socketLink(path));
    await worker.start();
    expect(await worker.put(answerOf("a"), PATIENT_MS)).toBe("stored");
    first.close();
    expect(await until(() => first.connections === 0, PATIENT_MS)).toBe(true);
    const later = worker.put(answerOf("b"), PATIENT_MS);
    const second = await listenKeeper(path, { answers: { path: file, limits: LIMITS } }, NO_BOOKS);
    expect(await later).toBe("stored");
    expect((await worker.get("a", "config:alice"))?.id).toBe("a");
    await worker.close();
    second.close();
  });

  test("without a keeper a put is late after its time, and nothing of it is stored afterwards", async () => {
    const path = fresh("sock");
    const worker = new AnswerClient(socketLink(path));
    void worker.start();
    expect(await worker.put(answerOf("a"), 20)).toBe("late");
    const keeper = await listenKeeper(path, { answers: { path: IN_MEMORY, limits: LIMITS } }, NO_BOOKS);
    expect(await worker.put(answerOf("b"), PATIENT_MS)).toBe("stored");
    expect(await worker.get("a", "config:alice")).toBeUndefined();
    await worker.close();
    keeper.close();
  });

  test("a put that the keeper took and did not answer in time is retracted", async () => {
    const { path, seen, answer, close } = await silentKeeper();
    const worker = new AnswerClient(socketLink(path));
    await worker.start();
    expect(await worker.put(answerOf("a"), 20)).toBe("late");
    expect(await until(() => seen.length === 2, PATIENT_MS)).toBe(true);
    expect(seen.map(({ ask: { op } }) => op)).toEqual(["put", "retract"]);
    expect(seen[1]!.ask).toMatchObject({ id: "a", owner: "config:alice" });
    // The answer to the put comes too late to be taken for that of another request.
    answer({ number: seen[0]!.number, value: "stored" });
    await worker.close();
    close();
  });

  test("a put whose keeper ended before it answered is retracted at the next one", async () => {
    const { path, seen, drop, close } = await silentKeeper();
    const faults: string[] = [];
    const worker = new AnswerClient(socketLink(path), { onFault: (sentence) => faults.push(sentence) });
    await worker.start();
    const others = ["b", "c"].map((id) => refusal(worker.put(answerOf(id), PATIENT_MS)));
    const lost = worker.put(answerOf("a"), PATIENT_MS).catch((fault: Error) => fault.message);
    expect(await until(() => seen.length === 3, PATIENT_MS)).toBe(true);
    drop();
    expect(await lost).toBe("the keeper ended before it answered");
    await Promise.all(others);
    // One line a minute, however many answers are not stored.
    expect(faults).toEqual(["an answer was not stored: the keeper ended before it answered"]);
    expect(await until(() => seen.length === 6, PATIENT_MS)).toBe(true);
    expect(seen.slice(3).map(({ ask }) => ask)).toMatchObject(
      ["b", "c", "a"].map((id) => ({ op: "retract", id, owner: "config:alice" })),
    );
    await worker.close();
    close();
  });

  test("a change whose keeper ended before it answered is asked of the next one", async () => {
    const { path, seen, answer, drop, close } = await silentKeeper();
    const worker = new AnswerClient(socketLink(path));
    await worker.start();
    const item = { id: "i", value: { a: 1 } };
    const changed = worker.amend("c", "config:alice", { add: [item] });
    expect(await until(() => seen.length === 1, PATIENT_MS)).toBe(true);
    drop();
    expect(await until(() => seen.length === 2, PATIENT_MS)).toBe(true);
    expect(seen.map(({ ask }) => [ask.op, "again" in ask])).toEqual([
      ["amend", false],
      ["amend", true],
    ]);
    answer({ number: seen[1]!.number, value: "stored" });
    expect(await changed).toBe("stored");
    await worker.close();
    close();
  });

  test("items of a change that was not answered in time are taken back", async () => {
    const { path, seen, close } = await silentKeeper();
    const worker = new AnswerClient(socketLink(path));
    await worker.start();
    const add = ["i", "j"].map((id) => ({ id, value: { a: 1 } }));
    expect(await worker.amend("c", "config:alice", { add }, 20)).toBe("late");
    expect(await worker.amend("c", "config:alice", { drop: "k" }, 20)).toBe("late");
    expect(await until(() => seen.length === 3, PATIENT_MS)).toBe(true);
    expect(seen.map(({ ask }) => ask.op)).toEqual(["amend", "retract", "amend"]);
    expect(seen[1]!.ask).toMatchObject({ id: "c", owner: "config:alice", items: ["i", "j"] });
    await worker.close();
    close();
  });

  test("bytes that are no message end the connection, and the keeper goes on", async () => {
    const path = fresh("sock");
    const keeper = await listenKeeper(path, { answers: { path: IN_MEMORY, limits: LIMITS } }, NO_BOOKS);
    for (const bytes of ["GET / HTTP/1.1\r\n\r\n", "\0\0\0\x08\0\0\0\x04nope", "\xff\xff\xff\xff"]) {
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      const peer = await Bun.connect({ unix: path, socket: { data() {}, close: () => resolve() } });
      peer.write(Buffer.from(bytes, "latin1"));
      peer.flush();
      await ended;
    }
    const worker = new AnswerClient(socketLink(path));
    void worker.start();
    expect(await worker.put(answerOf("a"), PATIENT_MS)).toBe("stored");
    await worker.close();
    keeper.close();
  });
});

/** A keeper that says hello and answers nothing by itself. */
async function silentKeeper() {
  const path = fresh("sock");
  const seen: AnswerAsk[] = [];
  let peer: import("node:net").Socket | undefined;
  const server = createServer((socket) => {
    peer = socket;
    const frames = new FrameReader<AnswerAsk>((message) => seen.push(message));
    socket.on("data", (chunk) => frames.push(chunk as Buffer));
    socket.on("error", () => {});
    socket.write(encodeFrame({ hello: true }));
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(path, resolve);
  await promise;
  return {
    path,
    seen,
    answer: (message: object) => void peer?.write(encodeFrame(message)),
    drop: () => void peer?.destroy(),
    close: () => void server.close(),
  };
}

describe("in a thread", () => {
  test("an answer is stored in the file, and read again by the next thread", async () => {
    const path = fresh("db");
    const settings = { answers: { path, limits: LIMITS } };
    const first = new AnswerClient(threadLink(settings));
    expect(await first.start()).toBeUndefined();
    expect(await first.put(answerOf("a"), PATIENT_MS)).toBe("stored");
    expect(await first.get("a", "config:alice")).toEqual(answerOf("a"));
    await first.close();
    const second = new AnswerClient(threadLink(settings));
    expect(await second.start()).toBeUndefined();
    expect(await second.get("a", "config:alice")).toEqual(answerOf("a"));
    expect(await second.items(["a-in-1"], "config:alice")).toEqual(
      new Map([["a-in-1", itemOf("a-in-1").value]]),
    );
    await second.close();
  });

  test("requests before the start wait for it", async () => {
    const store = new AnswerClient(threadLink({ answers: { path: IN_MEMORY, limits: LIMITS } }));
    const stored = store.put(answerOf("a"), PATIENT_MS);
    void store.start();
    expect(await stored).toBe("stored");
    await store.close();
  });

  test("a thread that waits for the first request takes what was sent before", async () => {
    const first = new FirstRequest();
    const events: string[] = [];
    const link = threadLink(
      { answers: { path: IN_MEMORY, limits: LIMITS } },
      first.passed,
    )({
      up: () => events.push("up"),
      down: () => events.push("down"),
      receive: (message) => "number" in message && events.push(`answer ${message.number}`),
    });
    link.send({ number: 1, ask: { op: "get", id: "a", owner: "" } });
    const handle = first.watch(() => events.push("handled"));
    handle(new Request("http://localhost/"));
    expect(events).toEqual(["handled"]);
    expect(await until(() => events.length === 3, PATIENT_MS)).toBe(true);
    expect(events).toEqual(["handled", "up", "answer 1"]);
    await link.close();
  });

  test("without a request the thread starts by itself, and one that never started is closed at once", async () => {
    const link = threadLink({ answers: { path: IN_MEMORY, limits: LIMITS } }, new FirstRequest().passed);
    await link({ up() {}, down() {}, receive() {} }).close();
    const first = new FirstRequest();
    first.watch(() => {});
    const store = new AnswerClient(
      threadLink({ answers: { path: IN_MEMORY, limits: LIMITS } }, first.passed),
    );
    expect(await store.start()).toBeUndefined();
    await store.close();
  });

  test("a thread that ends is started again, and opens the same file", async () => {
    const path = fresh("db");
    const events: string[] = [];
    const link = threadLink({ answers: { path, limits: LIMITS } })({
      up: () => events.push("up"),
      down: () => events.push("down"),
      receive: (message) => "number" in message && events.push(`answer ${message.number}`),
    });
    expect(await until(() => events.length === 1, PATIENT_MS)).toBe(true);
    // A message that nobody sends: the thread ends with the error.
    link.send({ number: 1 } as AnswerAsk);
    expect(await until(() => events.length === 3, PATIENT_MS)).toBe(true);
    link.send({ number: 2, ask: { op: "get", id: "a", owner: "" } });
    expect(await until(() => events.length === 4, PATIENT_MS)).toBe(true);
    expect(events).toEqual(["up", "down", "up", "answer 2"]);
    await link.close();
  });

  test("a file that cannot be opened is a sentence at the start, and rejects every request", async () => {
    const path = fresh("db");
    await Bun.write(path, "this is not a database, whatever its name says. ".repeat(100));
    const store = new AnswerClient(threadLink({ answers: { path, limits: LIMITS } }));
    const sentence = `${path} is damaged: it is not a SQLite database; move it away, or restore it from a backup`;
    expect(await store.start()).toBe(sentence);
    expect(await refusal(store.put(answerOf("a"), PATIENT_MS))).toBe(sentence);
    expect(await refusal(store.get("a", "config:alice"))).toBe(sentence);
    await store.close();
    expect(await Bun.file(path).text()).toStartWith("this is not a database");
  });
});
