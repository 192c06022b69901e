/** Hooks that refuse, answer and route calls, that add headers, and that ask other models of the gateway. */
import { describe, expect, test } from "bun:test";
import type { RunningGateway } from "../helpers/gateway.ts";
import { answering, ask, failing, inOrder, makeStage, places, post, STREAM } from "../helpers/places.ts";
import { json, silence, sse, until } from "../helpers/upstream.ts";

const { upstream, gateway } = makeStage();

const FORMATS = ["/v1/chat/completions", "/v1/messages"] as const;

/** A plugin file with these hooks. */
const hooked = (hooks: string, before = "") => ({
  "hooked.js": `import { definePlugin, GatewayError, NO_USAGE } from "weir";
${before}
export default definePlugin({ name: "hooked", hooks: { ${hooks} } });`,
});

type Line = Record<string, unknown> & { id: string; parent?: string };

/** The lines of calls in the log, once there are so many. */
async function callLines({ log }: RunningGateway, count: number): Promise<Line[]> {
  const lines = () =>
    log.flatMap((line) =>
      line.startsWith("{") && line.includes('"outcome"') ? [JSON.parse(line) as Line] : [],
    );
  await until(
    () => lines().length >= count,
    10_000,
    () => `the log has ${lines().length} of ${count} calls`,
  );
  return lines();
}

/** Waits until the log contains a text. */
function logged({ log }: RunningGateway, text: string): Promise<void> {
  return until(
    () => log.some((line) => line.includes(text)),
    10_000,
    () => `the log does not contain ${text}`,
  );
}

describe("admit", () => {
  const refuse = 'throw new GatewayError("permission", "Not on Sundays.", { code: "closed" });';

  for (const path of FORMATS)
    for (const stream of [false, true])
      test(`refuses ${stream ? "a stream" : "a call"} of ${path} before anything is sent`, async () => {
        const provider = upstream(answering);
        const plugins = hooked(`async admit() { await 0; ${refuse} }`);
        const running = await gateway({ providers: places([provider.url]) }, { plugins });
        const { status, text, headers } = await ask(running, { path, body: { stream } });
        expect([status, headers.get("x-weir-provider")]).toEqual([403, null]);
        expect(text).toContain("Not on Sundays.");
        expect(provider.requests.length).toBe(0);
        expect((await callLines(running, 1))[0]).toMatchObject({
          outcome: "failed",
          status: 403,
          error: { kind: "permission", code: "closed" },
        });
      });

  test("lets calls pass in the native lane, byte for byte, with or without a promise", async () => {
    const provider = upstream(() => sse(STREAM));
    for (const plugins of [hooked("admit() {}"), hooked("async admit() { await Bun.sleep(5); }")]) {
      const running = await gateway({ providers: places([provider.url]) }, { plugins });
      const { text, headers } = await ask(running, { body: { stream: true } });
      expect([text, headers.get("x-weir-lane")]).toEqual([STREAM.join(""), "native"]);
    }
  });

  test("may report a loss, which counts for every attempt and in strict mode", async () => {
    const provider = upstream(answering);
    const plugins = hooked('admit(call) { call.reportLoss("dropped", "user", "the plugin keeps it"); }');
    const running = await gateway(
      { providers: places([upstream(failing(503)).url, provider.url], inOrder) },
      { plugins },
    );
    expect((await ask(running)).headers.get("x-weir-warnings")).toBe("dropped:user");
    const strict = await ask(running, { headers: { "x-weir-strict": "true" } });
    expect([strict.status, strict.text]).toEqual([400, expect.stringContaining("dropped:user")]);
    expect(provider.requests.length).toBe(1);
  });

  test("does not run when tokens are counted", async () => {
    const running = await gateway({}, { plugins: hooked(`admit() { ${refuse} }`) });
    const counted = await ask(running, { path: "/v1/messages/count_tokens", body: { model: "mock/chat" } });
    expect([counted.status, counted.text]).toEqual([200, expect.stringContaining("input_tokens")]);
  });

  test("an error of its code is the gateway's error, and the log names the plugin", async () => {
    const running = await gateway({}, { plugins: hooked("admit() { null.x; }") });
    const { status, text } = await ask(running, { body: { model: "mock/chat" } });
    expect([status, text]).toEqual([500, expect.stringContaining("its log has the details")]);
    await logged(running, "plugin hooked: its admit hook failed");
  });

  test("a hook that never returns ends with the deadline of the client", async () => {
    const running = await gateway({}, { plugins: hooked("admit() { return new Promise(() => {}); }") });
    const asked = { body: { model: "mock/chat" }, headers: { "x-request-timeout": "0.5" } };
    expect((await ask(running, asked)).status).toBe(504);
  });
});

describe("intercept", () => {
  test("answers with events: tools, reasoning and counts reach the client", async () => {
    const events = `function* events() {
      yield { type: "message-start", id: "own", model: "m" };
      yield { type: "block-start", index: 0, block: { type: "tool-call", id: "t1", name: "look", kind: "function" } };
      yield { type: "block-delta", index: 0, delta: '{"a":1}' };
      yield { type: "block-end", index: 0 };
      yield { type: "message-end", reason: { kind: "tool-calls" }, usage: { ...NO_USAGE, input: 7, output: 3 } };
    }`;
    const plugins = hooked("intercept() { return { answer: events() }; }", events);
    const running = await gateway({}, { plugins });
    const { status, text } = await ask(running, { body: { model: "mock/chat" } });
    expect([status, JSON.parse(text)]).toMatchObject([
      200,
      {
        choices: [{ finish_reason: "tool_calls", message: { tool_calls: [{ function: { name: "look" } }] } }],
        usage: { prompt_tokens: 7, completion_tokens: 3 },
      },
    ]);
    expect((await callLines(running, 1))[0]).toMatchObject({
      provider: "hooked",
      lane: "generated",
      tokens: { input: 7, output: 3 },
    });
  });

  test("an answer that breaks a rule of events is an error, and is not tried elsewhere", async () => {
    const plugins = hooked('intercept() { return { answer: [{ type: "message-end" }] }; }');
    const provider = upstream(answering);
    const running = await gateway({ providers: places([provider.url]) }, { plugins });
    expect((await ask(running)).status).toBe(500);
    expect(provider.requests.length).toBe(0);
    await logged(running, "comes before message-start");
  });

  test("chooses the model before the first attempt: client, log and retries follow it", async () => {
    const [bad, good] = [upstream(failing(503)), upstream(answering)];
    const plugins = hooked('intercept: (call) => (call.model === "any" ? { model: "openai/m" } : undefined)');
    const running = await gateway({ providers: places([bad.url, good.url], inOrder) }, { plugins });
    for (const path of FORMATS) {
      const { status, headers } = await ask(running, { path, body: { model: "any" } });
      expect([status, headers.get("x-weir-model"), headers.get("x-weir-deployment")]).toEqual([
        200,
        "m",
        "openai/d1",
      ]);
    }
    expect(good.requests[0]!.body.toString()).toContain('"model":"m"');
    expect((await callLines(running, 2))[0]).toMatchObject({ model: "any", routed_model: "openai/m" });
    expect((await ask(running, { body: { model: "unknown" } })).status).toBe(404);
  });

  test("a model that nobody serves is an error that says so", async () => {
    const running = await gateway({}, { plugins: hooked('intercept: () => ({ model: "none" })') });
    const { status, text } = await ask(running, { body: { model: "mock/chat" } });
    expect([status, text]).toEqual([404, expect.stringContaining("none")]);
  });

  for (const [what, result] of [
    ["a text", '"mock/echo"'],
    ["an unknown member", '{ modle: "mock/echo" }'],
    ["an answer that is a number", "{ answer: 1 }"],
    ["an empty model", '{ model: "" }'],
  ])
    test(`${what} as the result is an error of the plugin`, async () => {
      const running = await gateway({}, { plugins: hooked(`intercept: () => (${result})`) });
      expect((await ask(running, { body: { model: "mock/chat" } })).status).toBe(500);
      await logged(running, "plugin hooked: its intercept hook failed");
    });

  test("reads the request, and its edits do not reach the provider", async () => {
    const provider = upstream(answering);
    const plugins = hooked(
      'intercept(call) { call.request.turns.pop(); call.addHeader("x-turns", String(call.request.turns.length)); }',
    );
    const running = await gateway({ providers: places([provider.url]) }, { plugins });
    const { headers } = await ask(running);
    expect([headers.get("x-turns"), headers.get("x-weir-lane")]).toEqual(["0", "native"]);
    expect(provider.requests[0]!.body.toString()).toContain('"content":"go"');
  });
});

describe("an edit of intercept", () => {
  const edit = `intercept(call) {
    let seen = "";
    if (call.headers.get("x-loud") !== "yes") return undefined;
    return { async *edit(events, { attempt, losses, skipped }) {
      call.addHeader("x-edits", (seen += ["attempt", attempt, losses.length, skipped.length].join(" ")));
      for await (const event of events)
        yield event.type === "block-delta" ? { ...event, delta: event.delta.toUpperCase() } : event;
    } };
  }`;
  const answer = `async *answer(events) {
    for await (const event of events)
      yield event.type === "block-delta" ? { ...event, delta: event.delta + " heard" } : event;
  }`;
  const loud = { "x-loud": "yes" };

  for (const path of FORMATS)
    for (const stream of [false, true])
      test(`rewrites the answer of its call alone, ${stream ? "streamed" : "whole"}, at ${path}`, async () => {
        const provider = upstream(answering);
        const running = await gateway({ providers: places([provider.url]) }, { plugins: hooked(edit) });
        expect((await ask(running, { path, body: { stream }, headers: loud })).text).toContain("HELLO");
        const other = await ask(running, { path, body: { stream } });
        expect(other.text).toContain("hello");
        // The native lane passes the bytes of the provider.
        expect(other.text.includes('"created":1,')).toBe(path === "/v1/chat/completions");
      });

  test("comes before answer hooks, and is called for the attempt that answers", async () => {
    let failures = 1;
    const provider = upstream((request) => (failures-- > 0 ? failing(500) : answering(request)));
    const config = { providers: places([provider.url]) };
    const running = await gateway(config, { plugins: hooked(`${edit}, ${answer}`) });
    const { text, headers } = await ask(running, { headers: loud });
    expect([headers.get("x-weir-attempts"), text.includes("HELLO heard")]).toEqual(["2", true]);
    expect(headers.get("x-edits")).toBe("attempt 2 0 0");
  });

  test("that is no function is an error of the plugin, and one that throws fails the call", async () => {
    const provider = upstream(answering);
    const config = { providers: places([provider.url]) };
    const wrong = await gateway(config, { plugins: hooked("intercept() { return { edit: 1 }; }") });
    expect((await ask(wrong)).status).toBe(500);
    await logged(wrong, "its edit must be a function");
    const throwing = hooked("intercept() { return { edit() { throw new Error('no'); } }; }");
    const running = await gateway(config, { plugins: throwing });
    expect((await ask(running)).status).toBe(500);
    await logged(running, "plugin hooked: the edit of its intercept hook failed");
  });
});

describe("addHeader", () => {
  test("adds headers to answers, streams and errors", async () => {
    const plugins = hooked(
      'admit(call) { call.addHeader("X-Region", "eu"); if (call.model === "mock/echo") throw new GatewayError("quota", "no"); }',
    );
    const running = await gateway({}, { plugins });
    for (const body of [{ model: "mock/chat" }, { model: "mock/chat", stream: true }, { model: "mock/echo" }])
      expect((await ask(running, { body })).headers.get("x-region")).toBe("eu");
  });

  test("may tell of a cache in x-weir-cache", async () => {
    const plugins = hooked('admit(call) { call.addHeader("x-weir-cache", "hit"); }');
    const running = await gateway({}, { plugins });
    expect((await ask(running, { body: { model: "mock/chat" } })).headers.get("x-weir-cache")).toBe("hit");
  });

  test("refuses names of weir and values that are not printable", async () => {
    const bad = [
      ["x-weir-model", "a"],
      ["x-request-id", "a"],
      ["content-type", "a"],
      ["x-a b", "a"],
      ["x-a", "a\\r\\nb: c"],
    ];
    const admit = `admit(call) { for (const [name, value] of ${JSON.stringify(bad).replaceAll("\\\\", "\\")})
      try { call.addHeader(name, value); call.addHeader("x-wrong", name); } catch {} }`;
    const running = await gateway({}, { plugins: hooked(admit) });
    const { status, headers } = await ask(running, { body: { model: "mock/chat" } });
    expect([status, headers.get("x-wrong"), headers.get("x-weir-model")]).toEqual([200, null, "chat"]);
  });

  test("says that it is too late once the head was sent", async () => {
    const plugins = hooked(
      'async *answer(events, call) { for await (const event of events) { if (event.type === "message-end") console.error("late:" + call.addHeader("x-late", "1")); yield event; } }',
    );
    const running = await gateway({}, { plugins, target: "process" });
    const { headers } = await ask(running, { body: { model: "mock/chat", stream: true } });
    expect(headers.get("x-late")).toBe(null);
    await logged(running, "late:false");
  });
});

describe("call.ask", () => {
  const KEY = "sk-weir-of-the-client-92a7";
  const asks = (request: string) =>
    `async intercept(call) { return { answer: JSON.stringify(await call.ask(${request})) }; }`;
  const answerOf = (text: string) =>
    JSON.parse(
      (JSON.parse(text) as { choices: [{ message: { content: string } }] }).choices[0].message.content,
    ) as Record<string, unknown>;

  test("returns text and counts, is retried, and is logged as a child on the same key", async () => {
    const [bad, good] = [upstream(failing(503)), upstream(answering)];
    const plugins = hooked(asks('{ model: "openai/m", system: "be brief", prompt: "hi", maxTokens: 9 }'));
    const running = await gateway(
      { keys: [{ name: "ci", key: KEY }], providers: places([bad.url, good.url], inOrder) },
      { plugins },
    );
    const { status, text } = await ask(running, { headers: { authorization: `Bearer ${KEY}` } });
    expect(status).toBe(200);
    expect(answerOf(text)).toMatchObject({
      text: "hello",
      provider: "openai",
      model: "m",
      toolCalls: [],
      finish: { kind: "stop" },
      usage: { input: 1, output: 1 },
    });
    expect(JSON.parse(good.requests[0]!.body.toString())).toMatchObject({
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "hi" },
      ],
    });
    const [child, parent] = await callLines(running, 2);
    expect(child).toMatchObject({ parent: parent!.id, key: "ci", format: "call.ask", outcome: "complete" });
    expect(child!["attempts"]).toMatchObject([{ class: "status" }, { class: "answered" }]);
    expect(parent).toMatchObject({ key: "ci", provider: "hooked" });
    expect(parent!.parent).toBeUndefined();
  });

  test("returns tool calls and reasoning, from a program too", async () => {
    const tools = '[{ kind: "function", name: "look", parameters: { type: "object", properties: {} } }]';
    const turns = '[{ role: "user", blocks: [{ type: "text", text: "go" }] }]';
    const request = `{ model: "mock/tools", turns: ${turns}, tools: ${tools} }`;
    const running = await gateway({}, { plugins: hooked(asks(request)) });
    const { text } = await ask(running, { body: { model: "mock/chat" } });
    expect(answerOf(text)).toMatchObject({
      provider: "mock",
      toolCalls: [{ name: "look", input: "{}" }],
      finish: { kind: "tool-calls" },
    });
  });

  test("a failure is a GatewayError that the plugin may catch, and reaches the client if it does not", async () => {
    const provider = { providers: places([upstream(failing(400)).url]) };
    const request = '{ model: "openai/m", prompt: "hi" }';
    const caught = hooked(
      `async intercept(call) { try { await call.ask(${request}); } catch (error) { return { answer: error.kind }; } }`,
    );
    const one = await ask(await gateway(provider, { plugins: caught }));
    expect(JSON.parse(one.text)).toMatchObject({ choices: [{ message: { content: "invalid-request" } }] });
    const two = await ask(await gateway(provider, { plugins: hooked(asks(request)) }));
    expect(two.status).toBe(400);
  });

  test("returns the images of an answer", async () => {
    const message = { content: "a", images: [{ image_url: { url: "data:image/png;base64,AAAA" } }] };
    const provider = upstream(json({ id: "c", choices: [{ message, finish_reason: "stop" }] }));
    const plugins = hooked(asks('{ model: "openai/m", prompt: "draw" }'));
    const running = await gateway({ providers: places([provider.url]) }, { plugins });
    const { text } = await ask(running);
    expect(answerOf(text)).toMatchObject({ text: "a", images: [{ mediaType: "image/png", data: "AAAA" }] });
  });

  for (const [what, request] of [
    ["without content", '{ model: "mock/chat" }'],
    ["without a model", '{ prompt: "hi" }'],
  ])
    test(`a request ${what} is an error of the plugin`, async () => {
      const running = await gateway({}, { plugins: hooked(asks(request!)) });
      expect((await ask(running, { body: { model: "mock/chat" } })).status).toBe(500);
      await logged(running, "call.ask needs");
    });

  test("the child ends when its client leaves", async () => {
    const provider = upstream(silence);
    const plugins = hooked(asks('{ model: "openai/m", prompt: "hi" }'));
    const running = await gateway({ providers: places([provider.url]) }, { plugins });
    const leaving = new AbortController();
    const asked = post(running, { signal: leaving.signal }).catch(() => undefined);
    await provider.arrived(1, 10_000);
    leaving.abort();
    await asked;
    await provider.quiet(10_000);
    const lines = await callLines(running, 2);
    expect(lines.map(({ outcome }) => outcome)).toEqual(["cancelled", "cancelled"]);
  });

  test("a child that nobody waits for ends with its parent", async () => {
    const provider = upstream(silence);
    const plugins = hooked(
      'admit(call) { if (!call.parent) call.ask({ model: "openai/m", prompt: "hi" }).catch(() => {}); return Bun.sleep(30); }',
    );
    const running = await gateway({ providers: places([provider.url]) }, { plugins });
    expect(
      (await ask(running, { body: { model: "openai/other" }, headers: { "x-request-timeout": "1" } })).status,
    ).toBe(504);
    await provider.quiet(10_000);
  });

  test("calls nest four deep, and the fifth is an error that says so", async () => {
    const program = `import { definePlugin } from "weir";
async function* generate(request, call) {
  const { text } = await call.ask({ model: "deeper/any", prompt: "again" });
  yield { type: "message-start", id: "m", model: "m" };
}
export default definePlugin({ name: "deeper", providers: [{ name: "deeper", generate }] });`;
    const running = await gateway({}, { plugins: { "deeper.js": program } });
    const { status, text } = await ask(running, { body: { model: "deeper/any" } });
    expect([status, text]).toEqual([500, expect.stringContaining("more than 4 calls deep")]);
    expect((await callLines(running, 5)).length).toBe(5);
  });

  test("admit, request and answer hooks see the child, intercept does not, and done knows its parent", async () => {
    const seen = `const seen = [];
const mark = (hook, call) => { seen.push(hook + (call.parent ? "-child" : "")); };`;
    const plugins = hooked(
      `admit(call) { mark("admit", call); },
       async intercept(call) { mark("intercept", call); await call.ask({ model: "mock/echo", prompt: "hi" }); },
       request(request, call) { mark("request", call); },
       answer(events, call) { mark("answer", call); return events; },
       done(record) { mark("done", record); if (!record.parent) console.error("seen:" + seen.join()); }`,
      seen,
    );
    const running = await gateway({}, { plugins, target: "process" });
    await ask(running, { body: { model: "mock/chat" } });
    const order = "admit,intercept,admit-child,request-child,answer-child,done-child,request,answer,done";
    await logged(running, `seen:${order}`);
  });

  test("explain sends nothing, and says that the hook wants to ask", async () => {
    const plugins = hooked(
      'async request(request, call) { await call.ask({ model: "mock/chat", prompt: "hi" }); }',
    );
    const running = await gateway({}, { plugins });
    const { status, text } = await ask(running, {
      path: "/v1/explain?format=chat-completions",
      body: { model: "mock/chat" },
    });
    expect([status, text]).toEqual([400, expect.stringContaining("explain sends nothing")]);
  });
});

describe("a slot", () => {
  test("has one note for all hooks of a call, and none of other calls", async () => {
    const plugins = hooked(
      `admit(call) { seen.set(call, [...(seen.get(call) ?? []), "admit " + call.model]); },
       intercept(call) { seen.get(call).push("intercept"); },
       request(request, call) { call.addHeader("x-seen", seen.get(call).join(", ")); },
       done(record) { done.push(record.model + ": " + seen.get(record).join(", ")); if (done.length === 3) throw new Error("done " + done.join("; ")); }`,
      'import { Slot } from "weir"; const seen = new Slot(); const done = [];',
    );
    const running = await gateway({}, { plugins });
    const models = ["mock/chat", "mock/echo", "mock/chat"];
    const answers = await Promise.all(models.map((model) => ask(running, { body: { model } })));
    expect(answers.map(({ headers }) => headers.get("x-seen"))).toEqual(
      models.map((model) => `admit ${model}, intercept`),
    );
    await logged(running, "mock/echo: admit mock/echo, intercept");
    await logged(running, "mock/chat: admit mock/chat, intercept");
  });
});
