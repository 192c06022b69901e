/** What a plugin does wrong is blamed on it, in the answer and in the log, and not on the provider. */
import { describe, expect, test } from "bun:test";
import type { RunningGateway } from "../helpers/gateway.ts";
import { answering, ask, makeStage, places, STREAM } from "../helpers/places.ts";
import { sse, stalled, until } from "../helpers/upstream.ts";

const { upstream, gateway } = makeStage();

const plugin = (members: string) => ({
  "odd.js": `import { definePlugin, NO_USAGE } from "weir";
const start = { type: "message-start", id: "m", model: "m" };
export default definePlugin({ name: "odd", ${members} });`,
});

function logged({ log }: RunningGateway, text: string): Promise<void> {
  return until(
    () => log.some((line) => line.includes(text)),
    10_000,
    () => `the log does not contain ${text}: ${log.join("\n")}`,
  );
}

const PROGRAM = "provider odd";
const ANSWER = "plugin odd: its answer hook";
const programs: [what: string, generate: string, says: string][] = [
  ["ends without message-end", "async *generate() { yield start; }", "its events ended without message-end"],
  ["gives no event at all", "async *generate() {}", "its events ended without message-end"],
  ["is no generator", "async generate() { return [start]; }", "it must be an async generator"],
  ["returns nothing", "generate() {}", "it must be an async generator"],
];
describe("a provider that is a program and", () => {
  for (const stream of [false, true])
    for (const [what, generate, says] of programs)
      test(`${what}${stream ? ", streamed" : ""}`, async () => {
        const plugins = plugin(`providers: [{ name: "odd", ${generate} }]`);
        const running = await gateway({}, { plugins });
        const { text } = await ask(running, { body: { model: "odd/m", stream } });
        expect(text).toContain(`${PROGRAM} failed`);
        expect(text).not.toContain("stream ended before");
        await logged(running, says);
      });
});

const hooks: [what: string, answer: string, says: string][] = [
  [
    "swallows message-end",
    'async *answer(events) { for await (const event of events) if (event.type !== "message-end") yield event; }',
    "its events ended without message-end",
  ],
  [
    "stops in the middle",
    "async *answer(events) { for await (const event of events) { yield event; return; } }",
    "its events ended without message-end",
  ],
  ["is no generator", "async answer(events) { return events; }", "it must be an async generator"],
];
describe("an answer hook that", () => {
  for (const stream of [false, true])
    for (const [what, answer, says] of hooks)
      test(`${what}${stream ? ", streamed" : ""}`, async () => {
        const plugins = plugin(`hooks: { ${answer} }`);
        const running = await gateway({ providers: places([upstream(answering).url]) }, { plugins });
        const { text } = await ask(running, { body: { stream } });
        expect(text).toContain(`${ANSWER} failed`);
        await logged(running, says);
      });

  test("does not begin is blamed for the timeout, and so is a request hook", async () => {
    const stuck = "await new Promise(() => {});";
    for (const [members, who] of [
      [
        `hooks: { async *answer(events) { for await (const event of events) { ${stuck} yield event; } } }`,
        ANSWER,
      ],
      [`hooks: { async request() { ${stuck} } }`, "plugin odd: its request hook"],
    ] as const) {
      const config = { providers: places([upstream(answering).url]), timeouts: { firstByteMs: 500 } };
      const running = await gateway(config, { plugins: plugin(members) });
      const { status, text } = await ask(running, {});
      expect([status, text]).toEqual([504, expect.stringContaining(`${who} failed`)]);
      await logged(running, "it was not done in time");
    }
  });

  const HANGS =
    "for await (const event of events) { yield event; if (event.type === 'block-delta') await new Promise(() => {}); }";
  const PASSES = "yield* events;";
  const CUT_OFF: [what: string, members: string, timeouts: object, who: string][] = [
    ["in mid-stream", `async *answer(events) { ${HANGS} }`, { gapMs: 500 }, ANSWER],
    ["until the call's deadline", `async *answer(events) { ${HANGS} }`, { totalMs: 1_000 }, ANSWER],
    [
      "as the edit of an intercept hook",
      `intercept() { return { async *edit(events) { ${HANGS} } }; }`,
      { gapMs: 500 },
      "plugin odd: the edit of its intercept hook",
    ],
  ];
  for (const [what, members, timeouts, who] of CUT_OFF)
    for (const paidOnce of [false, true])
      test(`hangs ${what} is blamed for the timeout${paidOnce ? ", also of an answer that is kept" : ""}`, async () => {
        const inner = plugin(`hooks: { ${members} }`)["odd.js"];
        const outer = inner
          .replaceAll('"odd"', '"outer"')
          .replace(members, `async *answer(events) { ${PASSES} }`);
        const config = {
          ...{ providers: places([upstream(answering).url]), timeouts, paidOnce: { enabled: paidOnce } },
          retries: { attempts: 1 },
        };
        const running = await gateway(config, { plugins: { "a.js": inner, "z.js": outer } });
        const headers = { "idempotency-key": "one" };
        const { text } = await ask(running, { body: { stream: true }, headers });
        expect(text).toContain("hello");
        expect(text).toContain(`${who} failed`);
        expect(text).not.toContain("plugin outer");
        await logged(running, "it was not done in time");
      });

  test("passes on what came is not blamed for a provider that falls silent", async () => {
    const silent = upstream(() => stalled([STREAM[0]!]));
    const plugins = plugin(`hooks: { async *answer(events) { ${PASSES} } }`);
    const config = { providers: places([silent.url]), timeouts: { gapMs: 500 }, retries: { attempts: 1 } };
    const running = await gateway(config, { plugins });
    const { text } = await ask(running, { body: { stream: true } });
    expect(text).toContain("The provider sent nothing for");
    expect(text).not.toContain("plugin odd");
  });

  test("passes on what came is not blamed for an answer that the provider cut", async () => {
    const cut = upstream(() =>
      sse([
        '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"ha"}}]}',
      ]),
    );
    const plugins = plugin("hooks: { async *answer(events) { yield* events; } }");
    const config = { providers: places([cut.url]), retries: { attempts: 1 } };
    const running = await gateway(config, { plugins });
    const { text } = await ask(running, { body: { stream: true } });
    expect(text).toContain("ended before the answer was complete");
    expect(text).not.toContain("plugin odd");
  });
});

test("a call that a hook edits is translated: header, log and explain say so", async () => {
  const provider = upstream(answering);
  const plugins = plugin("hooks: { request(request) { request.maxTokens = 7; } }");
  const running = await gateway({ providers: places([provider.url]) }, { plugins });
  const { headers } = await ask(running, {});
  expect(headers.get("x-weir-lane")).toBe("translated");
  await logged(running, '"lane":"translated"');
  const explained = await ask(running, { path: "/v1/explain?format=chat-completions" });
  expect((JSON.parse(explained.text) as { served_by: object }).served_by).toMatchObject({
    lane: "translated",
  });
});
