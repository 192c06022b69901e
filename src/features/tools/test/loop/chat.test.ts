/** Tools that weir runs for clients of chat-completions. */
import { describe, expect, test } from "bun:test";
import type { OpenAI } from "openai";
import { openaiClient } from "../../../../../test/helpers/sdk.ts";
import { McpError } from "../../wire/messages.ts";
import { FakeBench, text } from "./bench.ts";
import { type Heard, MODEL_FORMATS, type Said, startModel, TURN_TOKENS } from "./model.ts";
import { findTea, linesOf, makeStage, type Stage } from "./stage.ts";

const stage = makeStage();

const SHOP = { type: "mcp", server_label: "shop", server_url: "weir/shop", require_approval: "never" };

/** Asks, and returns what came. */
async function ask({ gateway }: Stage, body: object = {}, headers: Record<string, string> = {}) {
  const params = {
    model: "chat-completions/m",
    messages: [{ role: "user", content: "Is there tea?" }],
    tools: [SHOP],
    ...body,
  } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
  const { data, response } = await openaiClient(gateway.url, { headers })
    .chat.completions.create(params)
    .withResponse();
  const [choice] = data.choices;
  return { choice: choice!, content: choice!.message.content, data, headers: response.headers };
}

describe("runs tools", () => {
  test.each(MODEL_FORMATS.map((format) => [format]))("with a model of %s", async (format) => {
    const on = await stage(findTea);
    const { choice, data, headers } = await ask(on, { model: `${format}/m` });
    expect(choice.message.content).toBe("I know: found tea");
    expect(choice.finish_reason).toBe("stop");
    expect(choice.message.tool_calls).toBeUndefined();
    expect(data.usage).toMatchObject({
      prompt_tokens: 2 * TURN_TOKENS.input,
      completion_tokens: 2 * TURN_TOKENS.output,
    });
    expect(headers.get("x-weir-tools-run")).toBe("1");
    expect(headers.get("x-weir-warnings")).toBeNull();
    expect(on.bench.calls.map(({ name, arguments: input }) => [name, input])).toEqual([
      ["shop__find", { word: "tea" }],
    ]);
    expect(on.model.heard.map(({ format: of, tools }) => [of, tools])).toEqual([
      [format, ["shop__find"]],
      [format, ["shop__find"]],
    ]);
  });

  test("and books each turn and each tool under the call", async () => {
    const on = await stage(findTea);
    const { headers } = await ask(on);
    const lines = await linesOf(on, headers.get("x-request-id")!);
    expect(lines.map(({ format }) => format)).toEqual(["call.ask", "work", "call.ask", "chat-completions"]);
    // The counts of the answer are those of its turns.
    expect(lines.map(({ tokens }) => (tokens as { input: number } | undefined)?.input ?? 0)).toEqual([
      10, 0, 10, 0,
    ]);
  });

  test("that the header names, also of all servers", async () => {
    const bench = new FakeBench({ shop__find: () => text("tea"), zoo__feed: () => text("fed") });
    const on = await stage(findTea, { bench });
    await ask(on, { tools: undefined }, { "x-weir-tools": "shop, zoo" });
    await ask(on, { tools: undefined }, { "x-weir-tools": "*" });
    await ask(on, { tools: undefined }, { "x-weir-tools": "shop" });
    expect(on.model.heard.map(({ tools }) => tools.length)).toEqual([2, 2, 2, 2, 1, 1]);
  });

  test("that the config offers to the model, where the client names none", async () => {
    const bench = new FakeBench({ shop__find: () => text("tea"), zoo__feed: () => text("fed") });
    const models = {
      "messages/*": ["zoo", "nosuch"],
      "chat-completions/m": ["*"],
      "responses/*": ["nosuch"],
    };
    const on = await stage(() => ({ text: "hello" }), { bench, limits: { models } });
    const tools = undefined;
    for (const format of MODEL_FORMATS) await ask(on, { model: `${format}/m`, tools });
    await ask(on, { tools }, { "x-weir-tools": "shop" });
    await ask(on, { tools }, { "x-weir-tools": "," });
    expect(on.model.heard.map(({ tools: offered }) => offered.join())).toEqual([
      ...["shop__find,zoo__feed", "zoo__feed", ""],
      ...["shop__find", ""],
    ]);
  });

  test("of the server at the URL by which the client reaches weir", async () => {
    const on = await stage(findTea);
    const tools = [{ ...SHOP, server_url: `${on.gateway.url}/mcp/shop` }];
    expect((await ask(on, { tools })).content).toBe("I know: found tea");
  });

  test("that are allowed, and no others", async () => {
    const bench = new FakeBench({ shop__find: () => text("tea"), shop__buy: () => text("bought") });
    const on = await stage(findTea, { bench });
    await ask(on, { tools: [{ ...SHOP, allowed_tools: ["find"] }] });
    await ask(on, { tools: [{ ...SHOP, allowed_tools: { tool_names: ["shop__buy", "shop__find"] } }] });
    expect(on.model.heard.map(({ tools }) => tools.join())).toEqual([
      ...["shop__find", "shop__find"],
      ...["shop__find,shop__buy", "shop__find,shop__buy"],
    ]);
  });

  test("of one turn at once, eight at most, with results in the order of the calls", async () => {
    const bench = new FakeBench({
      shop__find: async ({ word }) => {
        await Bun.sleep(60 - Number(word) * 4);
        return text(`found ${String(word)}`);
      },
    });
    const calls = Array.from({ length: 12 }, (_, word) => ({ name: "shop__find", input: { word } }));
    const on = await stage(({ results }) => (results.length === 0 ? { calls } : { text: "done" }), { bench });
    await ask(on);
    expect(bench.most).toBe(8);
    expect(on.model.heard[1]!.results).toEqual(calls.map(({ input }) => `found ${input.word}`));
  });

  test("with all turns of a conversation at one deployment", async () => {
    const [one, two] = [startModel(findTea), startModel(findTea)];
    const deployments = [one, two].map(({ url }, index) => ({ name: `at${index}`, baseUrl: `${url}/v1` }));
    const fleet = { apiKey: "unused", models: ["m"], speaks: "chat-completions", deployments };
    const on = await stage(findTea, { config: { providers: { fleet } } });
    for (const word of ["tea", "milk", "sugar", "salt", "oil", "rice"])
      await ask(on, { model: "fleet/m", messages: [{ role: "user", content: `Is there ${word}?` }] });
    const turns = [one, two].map(({ heard }) => heard.map(({ results }) => results.length));
    for (const counts of turns) expect(counts).toEqual(counts.map((_, index) => index % 2));
    expect(turns.map(({ length }) => length > 0)).toEqual([true, true]);
    for (const model of [one, two]) model.stop();
  });

  test("beside a forced choice, which holds for the first turn", async () => {
    const on = await stage(findTea);
    await ask(on, { tool_choice: "required" });
    expect(on.model.heard.map(({ body }) => body["tool_choice"])).toEqual(["required", undefined]);
  });
});

describe("with x-weir-tools-detail", () => {
  const detail = { "x-weir-tools-detail": "yes" };
  const CALLS = [
    {
      id: expect.stringMatching(/^call_w1_\w+$/),
      type: "function",
      function: { name: "shop__find", arguments: '{"word":"tea"}' },
    },
  ];
  const RESULTS = [
    { tool_call_id: expect.stringMatching(/^call_w1_\w+$/), content: "found tea", is_error: false },
  ];

  test("the answer has the calls and their results", async () => {
    const on = await stage(findTea);
    const { choice, headers } = await ask(on, {}, detail);
    expect(choice.finish_reason).toBe("stop");
    expect<unknown>(structuredClone(choice.message)).toMatchObject({
      content: "I look.\n\nI know: found tea",
      tool_calls: CALLS,
      weir_tool_results: RESULTS,
    });
    expect(headers.get("x-weir-warnings")).toBeNull();
    // The message that comes back is one that every provider takes.
    const messages = [{ role: "user", content: "tea?" }, choice.message, { role: "user", content: "milk?" }];
    for (const format of MODEL_FORMATS)
      expect((await ask(on, { model: `${format}/m`, messages }, detail)).choice.finish_reason).toBe("stop");
    expect(JSON.stringify(on.model.heard.at(-1)!.body)).not.toContain("call_w1_");
  });

  test("a stream has them too", async () => {
    const on = await stage(findTea);
    const stream = openaiClient(on.gateway.url, { headers: detail }).chat.completions.stream({
      ...{ model: "messages/m", messages: [{ role: "user" as const, content: "tea?" }] },
      tools: [SHOP as never],
    });
    const results: unknown[] = [];
    for await (const { choices } of stream)
      results.push(...((choices[0]?.delta as { weir_tool_results?: [] })?.weir_tool_results ?? []));
    const [choice] = (await stream.finalChatCompletion()).choices;
    expect<unknown>(choice!.message.tool_calls).toMatchObject(CALLS);
    expect([results, choice!.finish_reason]).toEqual([RESULTS, "stop"]);
  });
});

describe("refuses", () => {
  const refused = async (tools: object[], headers: Record<string, string> = {}) => {
    const on = await stage(findTea);
    const error = await ask(on, { tools }, headers).catch((thrown: unknown) => thrown);
    expect(on.model.heard).toEqual([]);
    return error as { status: number; message: string; param: string };
  };

  test("a server that the request names and weir does not have", async () => {
    let seen = 0;
    const trap = Bun.serve({ port: 0, fetch: () => new Response(String(seen++)) });
    const { status, message } = await refused([{ ...SHOP, server_url: `http://127.0.0.1:${trap.port}/mcp` }]);
    expect([status, seen]).toEqual([400, 0]);
    expect(message).toContain("tools.servers");
    await trap.stop(true);
  });

  test("a server that the key may not use as one that there is not", async () => {
    const { status, message } = await refused([{ ...SHOP, server_url: "weir/nosuch" }]);
    expect(status).toBe(400);
    expect(message).toContain("there is no server of tools nosuch for this key");
    expect(await refused([], { "x-weir-tools": "nosuch" })).toMatchObject({ status: 400 });
  });

  test("a request whose tools cannot be listed", async () => {
    const bench = new FakeBench({});
    bench.list = () => Promise.reject(new McpError(1002, "no server can be reached"));
    const on = await stage(findTea, { bench });
    const error = await ask(on).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 502, code: "tools_unavailable" });
    expect(on.model.heard).toEqual([]);
  });

  test("what an answer of several turns cannot have", async () => {
    const on = await stage(findTea);
    const error = await ask(on, { n: 2 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 400, param: "n" });
    const { responses } = openaiClient(on.gateway.url, { headers: { "x-weir-tools": "shop" } });
    const asked = { model: "responses/m", input: "tea?", conversation: "conv_1" };
    expect(await responses.create(asked).catch((thrown: unknown) => thrown)).toMatchObject({
      status: 400,
      param: "conversation",
    });
    expect(on.model.heard).toEqual([]);
  });

  test("names that are none", async () => {
    expect(await refused([{ ...SHOP, server_label: "a b" }])).toMatchObject({
      status: 400,
      param: "tools[0]",
    });
    expect(await refused([], { "x-weir-tools": "a b" })).toMatchObject({ status: 400 });
  });

  test("a tool of the client with the name of one of weir's", async () => {
    const own = { type: "function", function: { name: "shop__find" } };
    expect(await refused([SHOP, own])).toMatchObject({ status: 400 });
  });
});

describe("stops", () => {
  const always = ({ count }: Heard): Said => ({
    text: `turn ${count}`,
    calls: [{ name: "shop__find", input: { word: String(count) } }],
  });

  test("at the most turns", async () => {
    const on = await stage(always, { limits: { maxTurns: 3 } });
    const { choice, headers } = await ask(on);
    expect([choice.finish_reason, choice.message.content]).toEqual(["length", "turn 2"]);
    expect(headers.get("x-weir-warnings")).toBe("clamped:tools.run.maxTurns");
    expect([on.model.heard.length, on.bench.calls.length]).toEqual([3, 2]);
  });

  test("at the most calls", async () => {
    const three = ({ count }: Heard): Said => ({
      text: `turn ${count}`,
      calls: [0, 1, 2].map((word) => ({ name: "shop__find", input: { word: `${count}.${word}` } })),
    });
    const on = await stage(three, { limits: { maxCalls: 7 } });
    const { choice, headers } = await ask(on);
    expect([choice.finish_reason, choice.message.content]).toEqual(["length", "turn 2"]);
    expect(headers.get("x-weir-warnings")).toBe("clamped:tools.run.maxCalls");
    expect(on.bench.calls.length).toBe(6);
  });

  test("in the time that it has, with the running tool", async () => {
    let stopped = false;
    const bench = new FakeBench({
      shop__find: (_, { stop }) =>
        new Promise((_resolve, reject) => {
          stop!.addEventListener("abort", () => {
            stopped = true;
            reject(new Error("stopped"));
          });
        }),
    });
    const on = await stage(always, { bench, limits: { timeoutMs: 300 } });
    const before = performance.now();
    const { choice, headers } = await ask(on);
    expect(performance.now() - before).toBeLessThan(2_000);
    expect(choice.finish_reason).toBe("length");
    expect(headers.get("x-weir-warnings")).toBe("clamped:tools.run.timeout");
    expect([stopped, on.model.heard.length]).toEqual([true, 1]);
  });

  test("in the time that it has, with the running turn", async () => {
    const on = await stage(
      ({ count }) => ({ ...always({ count } as Heard), ...(count === 1 && { wait: 5_000 }) }),
      {
        limits: { timeoutMs: 300 },
      },
    );
    const { choice } = await ask(on);
    expect(choice.finish_reason).toBe("length");
    await on.model.quiet(2_000);
  });

  test("where the model calls the same again and learns nothing", async () => {
    const orders = [
      { a: 1, word: "x" },
      { word: "x", a: 1 },
    ];
    const on = await stage(({ count }) => ({
      text: `turn ${count}`,
      calls: [{ name: "shop__find", input: orders[count % 2]! }],
    }));
    const { choice, headers } = await ask(on);
    expect([choice.finish_reason, choice.message.content]).toEqual(["length", "turn 2"]);
    expect(headers.get("x-weir-warnings")).toBe("clamped:tools.run.loop");
    expect(on.bench.calls.length).toBe(3);
  });

  test("not where the same call has other results", async () => {
    let count = 0;
    const bench = new FakeBench({ shop__find: () => text(`waiting ${++count}`) });
    const on = await stage(
      (heard) => (heard.count < 5 ? { calls: [{ name: "shop__find", input: {} }] } : { text: "done" }),
      { bench },
    );
    expect((await ask(on)).content).toBe("done");
  });

  test("after three calls in a row that came to no result", async () => {
    const bench = new FakeBench({
      shop__find: () => {
        throw new McpError(1002, "the server shop cannot be reached");
      },
    });
    const on = await stage(always, { bench });
    const { headers } = await ask(on);
    expect(headers.get("x-weir-warnings")).toBe("clamped:tools.run.errors");
    expect(on.bench.calls.length).toBe(3);
    expect(on.model.heard[2]!.results).toEqual(
      Array(2).fill("[tool error] the server shop cannot be reached"),
    );
  });
});

describe("tells the model", () => {
  test("what a tool says of its failure, and faults of its own calls", async () => {
    const bench = new FakeBench({
      shop__find: () => ({ content: [{ type: "text", text: "sold out" }], isError: true }),
    });
    const on = await stage(
      ({ results }) =>
        results.length > 0
          ? { text: "done" }
          : {
              calls: [
                { name: "shop__find", input: {} },
                { name: "shop__steal", input: {} },
                { name: "shop__find", input: "[1]" },
              ],
            },
      { bench },
    );
    await ask(on);
    expect(on.model.heard[1]!.results).toEqual([
      "[tool error] sold out",
      "[tool error] There is no tool shop__steal.",
      "[tool error] The arguments are not an object of JSON.",
    ]);
  });

  test("a result that is too long is cut, with a sentence", async () => {
    const bench = new FakeBench({ shop__find: () => text("ä".repeat(5_000_000)) });
    const on = await stage(findTea, { bench });
    await ask(on);
    const [result] = on.model.heard[1]!.results;
    expect(result!.startsWith("ä".repeat(51_200))).toBeTrue();
    expect(result).toContain("it has 10000000 bytes");
    expect(result!.length).toBeLessThan(52_000);
  });

  const PNG =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
  const shot = () =>
    new FakeBench({
      shop__find: () => ({ content: [{ type: "image", mimeType: "image/png", data: PNG }] }),
    });

  test.each(MODEL_FORMATS.map((format) => [format]))("an image, with a model of %s", async (format) => {
    const on = await stage(
      ({ count }) => (count === 0 ? findTea({ results: [] } as never) : { text: "nice" }),
      {
        bench: shot(),
      },
    );
    const { headers } = await ask(on, { model: `${format}/m` });
    expect(JSON.stringify(on.model.heard[1]!.body)).toContain(PNG);
    expect(headers.get("x-weir-warnings")).toBeNull();
  });

  test("that there was an image, where it takes none, and the client too", async () => {
    const script = ({ results }: Heard): Said =>
      results.length === 0 ? findTea({ results } as unknown as Heard) : { text: "nice" };
    const on = await stage(script, { bench: shot(), traits: { images: false } });
    const { headers } = await ask(on);
    expect(on.model.heard[1]!.results).toEqual(["[image omitted]"]);
    expect(headers.get("x-weir-warnings")).toBe("dropped:shop__find.content[0]");
    const strict = await ask(on, {}, { "x-weir-strict": "true" }).catch((thrown: unknown) => thrown);
    expect(strict).toMatchObject({ status: 400, code: "lossy_translation" });
    expect(on.model.heard.length).toBe(3);
  });

  test("structured content where there is no text", async () => {
    const bench = new FakeBench({ shop__find: () => ({ content: [], structuredContent: { price: 3 } }) });
    const on = await stage(findTea, { bench });
    expect((await ask(on)).content).toBe('I know: {"price":3}');
  });
});

test("a key whose endpoints lack tools gets none", async () => {
  const [narrow, wide] = ["narrow-0123456789abcdef", "wide-0123456789abcdef"];
  const keys = [
    { name: "narrow", key: narrow, endpoints: ["chat-completions"] },
    { name: "wide", key: wide, endpoints: ["chat-completions", "tools"] },
  ];
  const on = await stage(findTea, { config: { keys }, limits: { models: { "responses/m": ["shop"] } } });
  const as = (key: string, body: object = {}) => ask(on, body, { authorization: `Bearer ${key}` });
  expect((await as(wide)).content).toBe("I know: found tea");
  on.model.heard.length = 0;
  await expect(as(narrow)).rejects.toMatchObject({
    status: 403,
    code: "endpoint_not_allowed",
    param: "tools[0]",
  });
  expect(on.model.heard).toEqual([]);
  await as(narrow, { model: "responses/m", tools: undefined });
  expect(on.model.heard.map(({ tools }) => tools)).toEqual([[]]);
});
