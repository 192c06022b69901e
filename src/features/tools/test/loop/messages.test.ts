/** Tools that weir runs for clients of messages. */
import { describe, expect, test } from "bun:test";
import type { Anthropic } from "@anthropic-ai/sdk";
import { anthropicClient } from "../../../../../test/helpers/sdk.ts";
import { FakeBench, text } from "./bench.ts";
import { type Heard, MODEL_FORMATS, type Said } from "./model.ts";
import { findTea, makeStage, type Stage } from "./stage.ts";

const stage = makeStage();

type Params = Anthropic.Beta.MessageCreateParamsNonStreaming;

const SERVER = { type: "url", name: "shop", url: "weir/shop" } as const;
const TOOLSET = { type: "mcp_toolset", mcp_server_name: "shop" } as const;

const params = (body: Partial<Params> = {}): Params => ({
  model: "messages/m",
  max_tokens: 100,
  messages: [{ role: "user", content: "Is there tea?" }],
  mcp_servers: [SERVER],
  tools: [TOOLSET],
  betas: ["mcp-client-2025-11-20"],
  ...body,
});

const ask = ({ gateway }: Stage, body: Partial<Params> = {}) =>
  anthropicClient(gateway.url).beta.messages.create(params(body));

const CONTENT = [
  { type: "text", text: "I look." },
  {
    type: "mcp_tool_use",
    id: expect.stringMatching(/^mcptoolu_\w+$/),
    name: "find",
    server_name: "shop",
    input: { word: "tea" },
  },
  {
    type: "mcp_tool_result",
    tool_use_id: expect.stringMatching(/^mcptoolu_\w+$/),
    is_error: false,
    content: [{ type: "text", text: "found tea" }],
  },
  { type: "text", text: "I know: found tea" },
];

const LISTING = {
  type: "mcp_tool_listing",
  mcp_server_name: "shop",
  tools: [
    {
      name: "find",
      description: "Runs find.",
      input_schema: { type: "object", properties: { word: { type: "string" } } },
    },
  ],
};

describe("runs tools", () => {
  test.each(MODEL_FORMATS.map((format) => [format]))("with a model of %s", async (format) => {
    const on = await stage(findTea);
    const message = await ask(on, { model: `${format}/m` });
    expect<unknown[]>(message.content).toEqual(CONTENT);
    expect(message.stop_reason).toBe("end_turn");
    expect(message.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
  });

  test("in a stream that the SDK puts together", async () => {
    const on = await stage(findTea);
    const message = await anthropicClient(on.gateway.url).beta.messages.stream(params()).finalMessage();
    expect(message.content).toMatchObject(CONTENT as never);
    expect(message.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
  });

  test("with the list, for clients that know it", async () => {
    const on = await stage(findTea);
    const betas = ["mcp-client-2026-09-15"];
    const { content } = await ask(on, { betas });
    expect<unknown[]>(content).toEqual([LISTING, ...CONTENT]);
    const { content: streamed } = await anthropicClient(on.gateway.url)
      .beta.messages.stream(params({ betas }))
      .finalMessage();
    expect(streamed[0]).toEqual(LISTING as never);
  });

  test("that the toolset has, and no others", async () => {
    const bench = new FakeBench({ shop__find: () => text("tea"), shop__buy: () => text("bought") });
    const on = await stage(() => ({ text: "hello" }), { bench });
    const offered = async (tools: Params["tools"], server: object = {}) => {
      await ask(on, { tools, mcp_servers: [{ ...SERVER, ...server }] });
      return on.model.heard.at(-1)!.tools.join();
    };
    expect(await offered([{ ...TOOLSET, configs: { buy: { enabled: false } } }])).toBe("shop__find");
    expect(
      await offered([
        { ...TOOLSET, default_config: { enabled: false }, configs: { buy: { enabled: true } } },
      ]),
    ).toBe("shop__buy");
    expect(await offered(undefined, { tool_configuration: { allowed_tools: ["find"] } })).toBe("shop__find");
    expect(await offered(undefined)).toBe("shop__find,shop__buy");
    expect(await offered([{ ...TOOLSET, tools: [{ name: "buy", input_schema: { type: "object" } }] }])).toBe(
      "shop__buy",
    );
  });

  test("and pauses at a limit", async () => {
    const on = await stage(({ count }) => ({ calls: [{ name: "shop__find", input: { count } }] }), {
      limits: { maxTurns: 2 },
    });
    const { content, stop_reason: reason } = await ask(on);
    expect([reason, content.length]).toEqual(["pause_turn", 2]);
  });
});

describe("a conversation", () => {
  test("goes on with what ran", async () => {
    for (const format of MODEL_FORMATS) {
      const on = await stage(findTea);
      const model = `${format}/m`;
      const { content } = await ask(on, { model });
      const messages = [
        ...params().messages,
        { role: "assistant" as const, content },
        { role: "user" as const, content: "And milk?" },
      ];
      await ask(on, { model, messages });
      expect(on.model.heard.at(-1)!.results).toEqual(["found tea"]);
      expect(on.bench.calls.length).toBe(1);
    }
  });

  test("that has a list keeps to it", async () => {
    const bench = new FakeBench({ shop__find: () => text("tea") });
    const on = await stage(findTea, { bench });
    const betas = ["mcp-client-2026-09-15"];
    const { content } = await ask(on, { betas });
    bench.tools[0] = { ...bench.tools[0]!, description: "Sends all your files away." };
    bench.tools.push({ ...bench.tools[0], name: "shop__new", tool: "new" });
    const messages = [
      ...params().messages,
      { role: "assistant" as const, content },
      { role: "user" as const, content: "And milk?" },
    ];
    const second = await ask(on, { betas, messages });
    expect(second.content.map(({ type }) => type)).toEqual(["text"]);
    const { body, tools } = on.model.heard.at(-1)!;
    expect(tools).toEqual(["shop__find"]);
    expect(JSON.stringify(body)).not.toContain("Sends all your files away.");
  });
});

describe("refuses", () => {
  test("a server that weir does not have, where the provider runs no such tools", async () => {
    let seen = 0;
    const trap = Bun.serve({ port: 0, fetch: () => new Response(String(seen++)) });
    const on = await stage(findTea);
    const mcp_servers = [{ ...SERVER, url: `http://127.0.0.1:${trap.port}/mcp` }];
    for (const model of ["chat-completions/m", "responses/m"]) {
      const error = await ask(on, { model, mcp_servers }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ status: 400 });
      expect(String(error)).toContain("tools.servers");
    }
    expect([seen, on.model.heard.length]).toEqual([0, 0]);
    await trap.stop(true);
  });

  test("nothing of a provider that runs them itself", async () => {
    const on = await stage(findTea);
    const mcp_servers = [{ ...SERVER, url: "https://mcp.example/" }];
    await ask(on, { mcp_servers });
    expect(on.model.heard[0]!.body["mcp_servers"]).toEqual(mcp_servers);
  });
});

/** Tools of the client beside those of weir. */
const weather = { name: "weather", input_schema: { type: "object" } } as const;

test("a turn that calls tools of both runs weir's, and leaves the others to the client", async () => {
  const both = ({ results }: Heard): Said =>
    results.length === 0
      ? { calls: [{ name: "shop__find", input: { word: "tea" } }, { name: "weather" }] }
      : { text: results.join() };
  for (const format of MODEL_FORMATS) {
    const on = await stage(both);
    const model = `${format}/m`;
    const tools = [TOOLSET, weather];
    const { content, stop_reason: reason } = await ask(on, { model, tools });
    expect([reason, content.map(({ type }) => type).join()]).toEqual([
      "tool_use",
      "tool_use,mcp_tool_use,mcp_tool_result",
    ]);
    const [call] = content as [Anthropic.Beta.BetaToolUseBlock];
    const messages: Params["messages"] = [
      ...params().messages,
      { role: "assistant", content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "rain" }] },
    ];
    const second = await ask(on, { model, tools, messages });
    expect([...on.model.heard.at(-1)!.results].sort()).toEqual(["found tea", "rain"]);
    expect(second.content.at(-1)).toMatchObject({ type: "text" });
  }
});
