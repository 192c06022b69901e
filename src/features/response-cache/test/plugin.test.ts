/** The memory of the response cache: its bounds, how long it keeps answers, and which it does not keep. */
import { expect, test } from "bun:test";
import { type Answer, Entries } from "../../../../plugins/response-cache/entries.ts";
import { digestOf } from "../../../../plugins/response-cache/meaning.ts";
import plugin, { responseCache } from "../../../../plugins/response-cache/index.ts";
import type { CallView } from "../../../core/call-view.ts";
import type { ChatEvent } from "../../../core/events.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { cacheSection } from "../section.ts";

/** An answer whose JSON has about this number of bytes. */
const answer = (text: string, bytes = 100): Answer => ({
  events: [{ type: "block-delta", index: 0, delta: text.repeat(Math.ceil(bytes / text.length)) }],
  losses: [],
  format: "messages",
});

test("answers that were used least recently make room for new ones", () => {
  const entries = new Entries({ ttlMs: 60_000, bytes: 100_000 });
  for (let number = 0; number < 40; number++) {
    entries.set(`d${number}`, answer("x", 5_000));
    entries.get("d0");
  }
  expect(entries.bytes).toBeLessThanOrEqual(100_000);
  expect(entries.bytes).toBeGreaterThan(90_000);
  expect([entries.get("d0"), entries.get("d39")]).toEqual([answer("x", 5_000), answer("x", 5_000)]);
  expect(entries.get("d1")).toBeUndefined();
});

test("an answer is replaced, and one that takes more than a sixteenth of the memory is not kept", () => {
  const entries = new Entries({ ttlMs: 60_000, bytes: 100_000 });
  entries.set("a", answer("x"));
  entries.set("a", answer("ü"));
  expect(entries.get("a")).toEqual(answer("ü"));
  const { bytes } = entries;
  entries.set("b", answer("x", 7_000));
  expect([entries.get("b"), entries.bytes]).toEqual([undefined, bytes]);
  entries.set("a", answer("x", 7_000));
  expect([entries.get("a"), entries.bytes]).toEqual([undefined, 0]);
});

test("an answer is forgotten after its time, read or not, however often it is used", async () => {
  const entries = new Entries({ ttlMs: 40, bytes: 100_000 });
  const until = performance.now() + 40;
  entries.set("a", answer("x"));
  entries.set("b", answer("y"));
  while (performance.now() < until) {
    entries.get("a");
    await Bun.sleep(5);
  }
  expect(entries.get("a")).toBeUndefined();
  await Bun.sleep(100);
  expect(entries.bytes).toBe(0);
});

const EVENTS: readonly ChatEvent[] = [
  { type: "message-start", id: "first", model: "m" },
  { type: "block-start", index: 0, block: { type: "text" } },
  { type: "block-delta", index: 0, delta: "A dam." },
  { type: "block-end", index: 0 },
  {
    type: "message-end",
    reason: { kind: "stop" },
    usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 },
  },
];

/** What the header says of two calls, and what the second one reports as lost. @param attempt what the view of the first attempt says */
async function twice(attempt: Partial<CallView>, second: Partial<CallView> = {}) {
  const options = {
    keys: ["*"],
    header: false,
    tools: [],
    maxTemperature: "any",
    ttlMs: 60_000,
    bytes: 1e6,
  } as const;
  const { intercept } = responseCache(options).hooks!;
  const told: string[] = [];
  const lost: string[] = [];
  const view = (more: Partial<CallView>) =>
    ({
      ...{
        id: "req_1",
        format: "messages",
        model: "m",
        headers: new Headers(),
        attempt: 1,
        losses: [],
        skipped: [],
      },
      request: { model: "m", turns: [], tools: [], stop: [], stream: false, style: {}, extra: {} },
      addHeader: (_: string, value: string) => told.push(value) > 0,
      reportLoss: (code: string, path: string) => void lost.push(`${code}:${path}`),
      ...more,
    }) as unknown as CallView;
  const events = async function* () {
    yield* EVENTS;
  };
  const first = await intercept!(view({}));
  for await (const _ of first!.edit!(events(), view(attempt)));
  await intercept!(view(second));
  return { told, lost };
}

const dropped = { code: "dropped", path: "seed" } as const;

test("an answer of the first attempt of the usual model is kept", async () => {
  expect((await twice({})).told).toEqual(["miss", "hit"]);
});

test("an answer after a failed attempt, past a skipped deployment or of another model is not", async () => {
  const substituted = { code: "substituted", path: "model" } as const;
  for (const unusual of [{ attempt: 2 }, { skipped: ["host/a"] }, { losses: [substituted] }])
    expect((await twice(unusual)).told).toEqual(["miss", "miss"]);
});

test("what was lost of a request is reported again, to the format that can read it", async () => {
  const losses = [dropped];
  expect(await twice({ losses })).toEqual({ told: ["miss", "hit"], lost: ["dropped:seed"] });
  expect(await twice({ losses }, { format: "responses" })).toEqual({ told: ["miss", "miss"], lost: [] });
});

test("where the client wrote the parts of an image does not matter", async () => {
  const request = (detailPath: string) => {
    const source = { type: "url", url: "https://example.com/a.png" } as const;
    const image = { type: "image", source, detail: "low", detailPath } as const;
    const turns = [{ role: "user" as const, blocks: [image] }];
    return { model: "m", turns, tools: [], stop: [], stream: false, style: {}, extra: {} };
  };
  const view = (path: string) => ({ request: request(path) }) as Partial<CallView>;
  expect(digestIn(view("messages[0].content[0].image_url.detail"))).toBe(
    digestIn(view("input[0].content[0].detail")),
  );
});

const digestIn = ({ request }: Partial<CallView>) =>
  digestOf({ model: "m", headers: new Headers() } as unknown as CallView, request!);

test("the options of a dropped file have the names, values and defaults of the section", () => {
  const rulesOf = ({ properties }: JsonObject) =>
    parseJson(
      JSON.stringify(properties, (name, value: unknown) => {
        if (["description", "examples", "x-expects"].includes(name)) return undefined;
        return isObject(value) && "const" in value ? { enum: [value["const"]] } : value;
      }),
    );
  const { properties } = cacheSection.schema;
  expect(rulesOf(plugin.section!.schema)).toEqual(rulesOf({ properties } as unknown as JsonObject));
});
