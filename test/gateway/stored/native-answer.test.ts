/** What a client learns of the storage of an answer that passes through the native lane. */
import { describe, expect, test } from "bun:test";
import { Attempt, Call } from "../../../src/core/call.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Target } from "../../../src/core/provider.ts";
import { responsesFormat } from "../../../src/formats/responses/index.ts";
import { keepAnswer, streamKeeper } from "../../../src/gateway/stored/native-answer.ts";
import type { Keeper, StoredCall } from "../../../src/gateway/stored/types.ts";
import { parseFrames } from "../../../src/stream/sse.ts";
import { Tap } from "../../../src/stream/tap.ts";

const call = new Call("req_1", "responses", new Headers());
const attempt = new Attempt(call, {
  provider: { name: "p" },
  deployment: { name: "p" },
  lane: "native",
} as unknown as Target);

/** A call whose answers are stored or not, as told. `kept` are the answers that it was given. */
function callThat(keeper: Keeper, isStored: boolean): StoredCall & { kept: JsonObject[]; origins: string[] } {
  const kept: JsonObject[] = [];
  const origins: string[] = [];
  return {
    kept,
    origins,
    codec: responsesFormat.client.beside.stored!,
    pin: undefined,
    added: [],
    canKeep: true,
    conversation: undefined,
    stores: true,
    narrow: (plan) => plan,
    keeperOf: () => keeper,
    expanded: () => ({}),
    detached: () => undefined,
    previewed: () => ({}),
    converted: () => ({}),
    keep: async (answer) => (kept.push(answer), isStored),
    remembersItems: false,
    keepOrigin: async (id) => (origins.push(id), isStored),
  };
}

const item = { id: "msg_1", type: "message", role: "assistant", content: [] };
const response = { id: "resp_1", status: "completed", store: true, output: [item], created_at: 1.5 };

const EVENTS = [
  { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
  { type: "response.output_text.delta", delta: "response.completed" },
  { type: "response.output_item.done", output_index: 0, item },
  { type: "response.completed", response: { ...response, output: [] } },
].map((event) => Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));

const watch = {
  marks: ["response.created", "response.completed"],
  frame(frame: { data: string }, seen: { answerId?: string; isStored?: boolean; terminated: boolean }) {
    const { type } = JSON.parse(frame.data) as { type: string };
    if (type === "response.created") Object.assign(seen, { answerId: "resp_1", isStored: true });
    if (type === "response.completed") seen.terminated = true;
  },
  answer() {},
};

/** Passes the events in chunks of so many events. @returns what the client gets */
async function pass(stored: StoredCall, size: number): Promise<Buffer> {
  const keeper = streamKeeper(stored, attempt)!;
  const tap = new Tap(watch);
  const passed: Uint8Array[] = [];
  for (let at = 0; at < EVENTS.length; at += size) {
    const bytes = tap.push(Buffer.concat(EVENTS.slice(at, at + size)))!;
    passed.push(await keeper.pass(bytes, tap));
  }
  return Buffer.concat(passed);
}

/** What each event with a response says of its storage. */
const storesIn = (bytes: Uint8Array) =>
  parseFrames(bytes).flatMap(({ data }) => {
    const { response } = JSON.parse(data) as { response?: { store: boolean } };
    return response ? [response.store] : [];
  });

describe("a stream of a provider that stores its answers", () => {
  for (const size of [1, 2, 4]) {
    test(`passes unchanged in chunks of ${size} events once its origin is recorded, which happens once`, async () => {
      const stored = callThat("provider", true);
      expect((await pass(stored, size)).equals(Buffer.concat(EVENTS))).toBe(true);
      expect(stored.origins).toEqual(["resp_1"]);
    });

    test(`says at its end that it is not stored if weir cannot find it again, in chunks of ${size} events`, async () => {
      const bytes = await pass(callThat("provider", false), size);
      expect(storesIn(bytes).at(-1)).toBe(false);
      expect(parseFrames(bytes).map(({ event }) => event)).toEqual(
        parseFrames(Buffer.concat(EVENTS)).map(({ event }) => event),
      );
    });
  }
});

describe("a stream of a provider that stores no answers", () => {
  for (const isStored of [true, false])
    test(`gives weir the whole answer, and says that it is ${isStored ? "" : "not "}stored`, async () => {
      const stored = callThat("weir", isStored);
      const bytes = await pass(stored, 2);
      expect(stored.kept).toEqual([response]);
      expect(storesIn(bytes)).toEqual([true, isStored]);
    });
});

describe("a JSON answer", () => {
  const bytes = Buffer.from(
    '{"id":"resp_1", "created_at":1.50, "store":true, "status":"completed","output":[]}',
  );
  const seen = { answerId: "resp_1", isStored: true, terminated: true, complete: true };

  test("keeps all bytes but those that say whether it is stored", async () => {
    expect(
      Buffer.from(await keepAnswer(callThat("provider", true), bytes, seen, attempt)).equals(bytes),
    ).toBe(true);
    for (const keeper of ["provider", "weir"] as const) {
      const changed = await keepAnswer(callThat(keeper, false), bytes, seen, attempt);
      expect(Buffer.from(changed).toString()).toBe(bytes.toString().replace('"store":true', '"store":false'));
    }
  });
});
