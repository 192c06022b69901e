/** Tools that weir runs for clients of responses: items, events, consent, stored answers. */
import { describe, expect, test } from "bun:test";
import type { OpenAI } from "openai";
import { judgeResponses } from "../../../../../test/helpers/judge-responses.ts";
import { openaiClient } from "../../../../../test/helpers/sdk.ts";
import { parseFrames } from "../../../../stream/sse.ts";
import { FakeBench, text } from "./bench.ts";
import { type Heard, MODEL_FORMATS, type Said } from "./model.ts";
import { findTea, makeStage, type Stage } from "./stage.ts";

const stage = makeStage();

type Item = OpenAI.Responses.ResponseOutputItem;
type Input = OpenAI.Responses.ResponseInput;

const SHOP = {
  type: "mcp",
  server_label: "shop",
  server_url: "weir/shop",
  require_approval: "never",
} as const satisfies OpenAI.Responses.Tool.Mcp;
const ASKING = { type: "mcp", server_label: "shop", server_url: "weir/shop" } as const;

function ask(
  { gateway }: Stage,
  body: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming> = {},
): Promise<OpenAI.Responses.Response> {
  return openaiClient(gateway.url).responses.create({
    model: "chat-completions/m",
    input: "Is there tea?",
    tools: [SHOP],
    ...body,
  });
}

const typesOf = (items: readonly Item[]) => items.map(({ type }) => type);

/** Three calls in two turns, and an answer. */
const threeCalls = ({ results }: Heard): Said => {
  const find = (word: string) => ({ name: "shop__find", input: { word } });
  if (results.length === 0) return { text: "I look.", calls: [find("tea"), find("milk")] };
  if (results.length === 2) return { calls: [find("sugar")] };
  return { text: `I know: ${results.join()}` };
};

describe("runs tools", () => {
  test.each(MODEL_FORMATS.map((format) => [format]))("with a model of %s", async (format) => {
    const on = await stage(threeCalls);
    const response = await ask(on, { model: `${format}/m` });
    expect(response.status).toBe("completed");
    expect(response.tools).toEqual([SHOP]);
    expect(typesOf(response.output)).toEqual([
      ...["mcp_list_tools", "message", "mcp_call", "mcp_call", "mcp_call", "message"],
    ] as Item["type"][]);
    expect(response.output[0]).toEqual({
      type: "mcp_list_tools",
      id: expect.stringMatching(/^mcpl_/),
      server_label: "shop",
      error: null,
      tools: [
        {
          name: "find",
          description: "Runs find.",
          input_schema: { type: "object", properties: { word: { type: "string" } } },
          annotations: null,
        },
      ],
    });
    expect(response.output[2]).toEqual({
      type: "mcp_call",
      id: expect.stringMatching(/^mcp_/),
      status: "completed",
      approval_request_id: null,
      server_label: "shop",
      name: "find",
      arguments: '{"word":"tea"}',
      output: "found tea",
      error: null,
    });
    expect(response.output_text).toBe("I look.I know: found tea,found milk,found sugar");
    expect(response.usage).toMatchObject({ input_tokens: 30, output_tokens: 15 });
  });

  test("in a stream, in the order of the vendor's", async () => {
    const on = await stage(threeCalls);
    const answer = await fetch(`${on.gateway.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "messages/m", input: "tea?", tools: [SHOP], stream: true }),
    });
    const frames = parseFrames(Buffer.from(await answer.arrayBuffer()));
    expect(judgeResponses(frames, { isRelayed: true })).toEqual([]);
    const events = frames.map(({ data }) => JSON.parse(data) as { type: string; output_index?: number });
    const of = (index: number) =>
      events
        .filter(({ output_index }) => output_index === index)
        .map(({ type }) => type.slice("response.".length));
    expect(of(0)).toEqual([
      ...["output_item.added", "mcp_list_tools.in_progress", "mcp_list_tools.completed", "output_item.done"],
    ]);
    for (const index of [2, 3, 4])
      expect(of(index)).toEqual([
        ...[
          "output_item.added",
          "mcp_call.in_progress",
          "mcp_call_arguments.delta",
          "mcp_call_arguments.done",
        ],
        ...["mcp_call.completed", "output_item.done"],
      ]);
    expect(events.at(-1)!.type).toBe("response.completed");
  });

  test("and the SDK puts the stream together", async () => {
    const on = await stage(threeCalls);
    const stream = openaiClient(on.gateway.url).responses.stream({
      model: "responses/m",
      input: "Is there tea?",
      tools: [SHOP],
    });
    const { output } = await stream.finalResponse();
    expect(output).toMatchObject([
      ...[{ type: "mcp_list_tools" }, { type: "message" }, { type: "mcp_call", output: "found tea" }],
      ...[
        { type: "mcp_call", output: "found milk" },
        { type: "mcp_call", output: "found sugar" },
      ],
      { type: "message" },
    ]);
  });

  test("and says which failed", async () => {
    const bench = new FakeBench({
      shop__find: () => ({ content: [{ type: "text", text: "sold out" }], isError: true }),
    });
    const on = await stage(findTea, { bench });
    const { output } = await ask(on);
    expect(output[2]).toMatchObject({
      status: "failed",
      output: null,
      error: { type: "mcp_tool_execution_error", content: [{ type: "text", text: "sold out" }] },
    });
  });

  test("as many as the client permits", async () => {
    const on = await stage(threeCalls);
    const { status } = await ask(on, { max_tool_calls: 2 });
    expect([status, on.bench.calls.length]).toEqual(["incomplete", 2]);
  });

  test("and ends an answer at a limit as incomplete", async () => {
    const on = await stage(threeCalls, { limits: { maxTurns: 2 } });
    const { status, incomplete_details: why, output } = await ask(on);
    expect([status, why?.reason, typesOf(output).join()]).toEqual([
      "incomplete",
      "max_output_tokens",
      "mcp_list_tools,message,mcp_call,mcp_call",
    ]);
  });

  test("and ends an answer whose time is over with the call that runs", async () => {
    const bench = new FakeBench({ shop__find: () => new Promise(() => {}) });
    const on = await stage(threeCalls, { bench, limits: { timeoutMs: 300 } });
    const { status, output } = await ask(on);
    expect([status, typesOf(output).join()]).toEqual(["incomplete", "mcp_list_tools,message,mcp_call"]);
    expect(output[2]).toMatchObject({ status: "failed", output: null });
  });

  test("of a server that cannot be reached not, and says so in the list", async () => {
    const bench = new FakeBench({});
    bench.unavailable.push({ server: "shop", reason: "connection refused" });
    const on = await stage(() => ({ text: "No tools." }), { bench });
    const { output } = await ask(on);
    expect(output[0]).toMatchObject({ type: "mcp_list_tools", tools: [], error: "shop: connection refused" });
  });
});

describe("a conversation", () => {
  const results = (heard: Heard): string[] => [...heard.results];

  test("goes on with the items of the client", async () => {
    for (const format of MODEL_FORMATS) {
      const on = await stage(findTea);
      const model = `${format}/m`;
      const first = await ask(on, { model });
      const input: Input = [...first.output, { role: "user", content: "And milk?" }] as Input;
      const second = await ask(on, { model, input });
      // The list is in the conversation.
      expect(typesOf(second.output)).toEqual(["message"]);
      expect(results(on.model.heard[2]!)).toEqual(["found tea"]);
    }
  });

  test("goes on from an answer that weir stores", async () => {
    const on = await stage(findTea, { stores: true });
    const first = await ask(on, { store: true });
    const second = await ask(on, { previous_response_id: first.id, input: "And milk?" });
    expect(typesOf(second.output)).toEqual(["message"]);
    expect(results(on.model.heard[2]!)).toEqual(["found tea"]);
    const stored = await openaiClient(on.gateway.url).responses.retrieve(first.id);
    expect(stored.output).toEqual(first.output);
  });
});

describe("consent", () => {
  const two = () =>
    new FakeBench({
      shop__find: ({ word }) => text(`found ${String(word)}`),
      shop__buy: () => text("bought"),
    });
  const both = ({ results }: Heard): Said =>
    results.length === 0
      ? {
          calls: [
            { name: "shop__find", input: { word: "tea" } },
            { name: "shop__buy", input: { word: "tea" } },
          ],
        }
      : { text: results.join() };

  test("is asked for unless the client says never", async () => {
    const on = await stage(findTea);
    const { output, status } = await ask(on, { tools: [ASKING] });
    expect(typesOf(output)).toEqual(["mcp_list_tools", "message", "mcp_approval_request"]);
    expect(output[2]).toMatchObject({ server_label: "shop", name: "find", arguments: '{"word":"tea"}' });
    expect([status, on.bench.calls.length]).toEqual(["completed", 0]);
  });

  const given = async (approve: boolean, stored: boolean) => {
    const on = await stage(findTea, { stores: stored });
    const first = await ask(on, { tools: [ASKING], store: stored });
    const request = first.output[2]!;
    const answer = {
      type: "mcp_approval_response",
      approval_request_id: request.id!,
      approve,
      reason: "No money.",
    } as const;
    const second = await ask(on, {
      tools: [ASKING],
      ...(stored
        ? { previous_response_id: first.id, input: [answer] }
        : { input: [...first.output, answer] as Input }),
    });
    return { on, request, first, answer, second };
  };

  test.each([[true], [false]])("runs the call once (stored: %p)", async (stored) => {
    const { on, request, second, first, answer } = await given(true, stored);
    expect(typesOf(second.output)).toEqual(["mcp_call", "message"]);
    expect(second.output[0]).toMatchObject({ approval_request_id: request.id, output: "found tea" });
    expect(second.output_text).toBe("I know: found tea");
    expect(on.bench.calls.length).toBe(1);
    const third = await ask(on, {
      tools: [ASKING],
      ...(stored
        ? { previous_response_id: second.id, input: "Thanks." }
        : {
            input: [...first.output, answer, ...second.output, { role: "user", content: "Thanks." }] as Input,
          }),
    });
    expect([on.bench.calls.length, typesOf(third.output).join()]).toEqual([1, "message"]);
    expect(on.model.heard.at(-1)!.results).toEqual(["found tea"]);
  });

  test.each([[true], [false]])("that is refused is told to the model (stored: %p)", async (stored) => {
    const { on, second } = await given(false, stored);
    expect(typesOf(second.output)).toEqual(["message"]);
    expect(on.bench.calls.length).toBe(0);
    expect(on.model.heard[1]!.results[0]).toContain("The user did not allow this call. No money.");
  });

  test("runs the call once, however often it is given", async () => {
    const on = await stage(findTea);
    const first = await ask(on, { tools: [ASKING] });
    const request = first.output[2]!;
    const consent = {
      type: "mcp_approval_response",
      approval_request_id: request.id!,
      approve: true,
    } as const;
    const input = [...first.output, request, consent, consent] as Input;
    await ask(on, { tools: [ASKING], input });
    expect(on.bench.calls.length).toBe(1);
  });

  test("is no way to run more calls than an answer may have, nor a tool that is not on offer", async () => {
    const on = await stage(() => ({ text: "hello" }), { limits: { maxCalls: 3 } });
    const given = (count: number, name: string) =>
      Array.from({ length: count }, (_, at) => [
        { type: "mcp_approval_request", id: `mcpr_${at}`, server_label: "shop", name, arguments: "{}" },
        { type: "mcp_approval_response", approval_request_id: `mcpr_${at}`, approve: true },
      ]).flat() as Input;
    const many = await ask(on, { tools: [ASKING], input: given(4, "find") }).catch(
      (thrown: unknown) => thrown,
    );
    expect(many).toMatchObject({ status: 400 });
    await ask(on, { tools: [ASKING], input: given(1, "steal") });
    expect([on.bench.calls.length, on.model.heard[0]!.results[0]]).toEqual([
      0,
      expect.stringContaining("There is no tool"),
    ]);
  });

  test("holds back the whole turn", async () => {
    const on = await stage(both, { bench: two() });
    const approval = { never: { tool_names: ["find"] } };
    const { output } = await ask(on, { tools: [{ ...ASKING, require_approval: approval }] });
    expect(typesOf(output)).toEqual(["mcp_list_tools", "mcp_approval_request", "mcp_approval_request"]);
    expect(on.bench.calls).toEqual([]);
  });

  test("is asked for if one of the references wants it, in either order", async () => {
    for (const tools of [
      [SHOP, { ...ASKING, server_label: "again" }],
      [{ ...ASKING, server_label: "again" }, SHOP],
      [SHOP, { ...ASKING, server_label: "all", server_url: "weir" }],
    ]) {
      const on = await stage(findTea);
      const { output } = await ask(on, { tools });
      expect([typesOf(output).at(-1), on.bench.calls.length]).toEqual(["mcp_approval_request", 0]);
    }
  });

  test("is not given by what a server says of its tools", async () => {
    const bench = two();
    for (const tool of bench.tools) Object.assign(tool, { annotations: { readOnlyHint: true } });
    const on = await stage(findTea, { bench });
    const { output } = await ask(on, {
      tools: [{ ...ASKING, require_approval: { never: { read_only: true } } }],
    });
    expect([typesOf(output).at(-1), on.bench.calls.length]).toEqual(["mcp_approval_request", 0]);
  });
});

test("a server that weir does not have is refused, where the provider runs no such tools", async () => {
  const own = { type: "function", name: "own", parameters: { type: "object" }, strict: false } as const;
  const foreign = { ...SHOP, server_url: "https://mcp.example/" };
  const on = await stage(findTea);
  const refused = async (tools: OpenAI.Responses.Tool[], model: string) =>
    String(await ask(on, { tools, model }).catch((thrown: unknown) => thrown));
  expect(await refused([foreign], "messages/m")).toContain("tools.servers");
  expect(await refused([own, foreign], "chat-completions/m")).toContain("tools.servers");
  expect(await refused([SHOP, foreign], "responses/m")).toContain("not both");
  expect(on.model.heard).toEqual([]);
  await ask(on, { tools: [foreign], model: "responses/m" }).catch(() => {});
  expect(on.model.heard[0]!.body["tools"]).toEqual([foreign]);
});

describe("a choice", () => {
  test("of a tool of a server is that of its function", async () => {
    const on = await stage(findTea);
    await ask(on, { tool_choice: { type: "mcp", server_label: "shop", name: "find" } });
    expect(on.model.heard.map(({ body }) => body["tool_choice"])).toEqual([
      { type: "function", function: { name: "shop__find" } },
      undefined,
    ]);
  });

  test("of a tool that is not on offer is refused", async () => {
    const on = await stage(findTea);
    const asked = ask(on, { tool_choice: { type: "mcp", server_label: "shop", name: "steal" } });
    expect(await asked.catch((thrown: unknown) => thrown)).toMatchObject({ status: 400 });
  });
});
