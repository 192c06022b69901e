/** Models that call tools of weir and tools of the client in one answer, for clients of chat-completions and responses. */
import { describe, expect, test } from "bun:test";
import type { OpenAI } from "openai";
import { openaiClient } from "../../../../../test/helpers/sdk.ts";
import { Exchanges } from "../../loop/exchanges.ts";
import { type Heard, MODEL_FORMATS, type Said } from "./model.ts";
import { makeStage } from "./stage.ts";

const stage = makeStage();

const call = (name: string, word = "tea") => ({ name, input: { word } });

/** Looks once, then looks again and asks the client for the weather, and then answers. */
const script = ({ results }: Heard): Said => {
  if (results.length === 0) return { text: "First.", calls: [call("shop__find")] };
  if (results.length === 1) return { text: "Then.", calls: [call("weather"), call("shop__find", "milk")] };
  return { text: results.join("; ") };
};

describe("chat-completions", () => {
  const weather = {
    type: "function",
    function: { name: "weather", parameters: { type: "object" } },
  } as const;
  const tools = [{ type: "mcp", server_label: "shop", server_url: "weir/shop" }, weather];

  test.each(MODEL_FORMATS.map((format) => [format]))(
    "gets its own calls, with a model of %s",
    async (format) => {
      const on = await stage(script);
      const { completions } = openaiClient(on.gateway.url).chat;
      const asked = {
        model: `${format}/m`,
        tools,
      } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
      const question = { role: "user", content: "Is there tea?" } as const;
      const first = await completions.create({ ...asked, messages: [question] });
      const [{ message, finish_reason: finish }] = first.choices as [OpenAI.ChatCompletion.Choice];
      expect(finish).toBe("tool_calls");
      expect(message.content).toBe("Then.");
      expect(message.tool_calls!.map((one) => one.type === "function" && one.function.name)).toEqual([
        "weather",
      ]);
      expect(on.bench.calls.length).toBe(2);
      const result = { role: "tool", tool_call_id: message.tool_calls![0]!.id, content: "rain" } as const;
      const second = await completions.create({ ...asked, messages: [question, message, result] });
      expect(second.choices[0]!.message.content!.split("; ").sort()).toEqual([
        "found milk",
        "found tea",
        "rain",
      ]);
      expect(on.bench.calls.length).toBe(2);
      expect(second.choices[0]!.finish_reason).toBe("stop");
    },
  );

  test("is not given what another key did", async () => {
    const [anna, bert] = ["anna-0123456789abcdef", "bert-0123456789abcdef"];
    const keys = [`anna:${anna}`, `bert:${bert}`];
    const on = await stage(script, { config: { keys } });
    const ask = (apiKey: string, messages: unknown[]) =>
      openaiClient(on.gateway.url, { apiKey }).chat.completions.create({
        model: "chat-completions/m",
        tools,
        messages,
      } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming);
    const question = { role: "user", content: "Is there tea?" };
    const [{ message }] = (await ask(anna, [question])).choices as [OpenAI.ChatCompletion.Choice];
    const result = { role: "tool", tool_call_id: message.tool_calls![0]!.id, content: "rain" };
    await ask(bert, [question, message, result]);
    const heard = on.model.heard.slice(2).map(({ results }) => results.join());
    expect(heard[0]).toBe("rain");
  });
});

test("responses has the items of weir beside the client's calls", async () => {
  const on = await stage(script);
  const { responses } = openaiClient(on.gateway.url);
  const shop = {
    type: "mcp",
    server_label: "shop",
    server_url: "weir/shop",
    require_approval: "never",
  } as const;
  const weather = {
    type: "function",
    name: "weather",
    parameters: { type: "object" },
    strict: false,
  } as const;
  for (const format of MODEL_FORMATS) {
    const asked = { model: `${format}/m`, tools: [shop, weather] };
    const first = await responses.create({ ...asked, input: "Is there tea?" });
    expect(first.output.map(({ type }) => type).join()).toBe(
      "mcp_list_tools,message,mcp_call,message,function_call,mcp_call",
    );
    const own = first.output.find(
      ({ type }) => type === "function_call",
    ) as OpenAI.Responses.ResponseFunctionToolCall;
    const input = [...first.output, { type: "function_call_output", call_id: own.call_id, output: "rain" }];
    const second = await responses.create({ ...asked, input: input as OpenAI.Responses.ResponseInput });
    expect(second.output_text.split("; ").sort()).toEqual(["found milk", "found tea", "rain"]);
  }
});

describe("exchanges", () => {
  const find = (exchanges: Exchanges, owner: string, id: string) => exchanges.find(owner, [[id]])[0];

  test("are forgotten after ten minutes, and where there are too many or too large ones", () => {
    let now = 0;
    const exchanges = new Exchanges(() => now);
    exchanges.keep("a", ["1", "2"], "x");
    expect(exchanges.find("a", [["0"], ["0", "2"], []])).toEqual([undefined, "x", undefined]);
    expect(find(exchanges, "b", "1")).toBeUndefined();
    now = 600_001;
    expect(find(exchanges, "a", "1")).toBeUndefined();
    for (let at = 0; at < 501; at++) exchanges.keep("a", [`many${at}`], "x");
    expect([find(exchanges, "a", "many0"), find(exchanges, "a", "many1")]).toEqual([undefined, "x"]);
    const large = "x".repeat(10_000_000);
    exchanges.keep("a", ["large1"], large);
    exchanges.keep("a", ["large2"], large);
    expect([find(exchanges, "a", "large1"), find(exchanges, "a", "large2")]).toEqual([undefined, large]);
  });

  test("of one key do not drive out those of another one", () => {
    const exchanges = new Exchanges();
    exchanges.keep("anna", ["1"], "tea");
    for (let at = 0; at < 3_000; at++) exchanges.keep("bert", [`${at}`], "x".repeat(30_000));
    expect(find(exchanges, "anna", "1")).toBe("tea");
    expect(find(exchanges, "bert", "2999")).toBeDefined();
    for (let at = 0; at < 5_000; at++) exchanges.keep(`key-${at}`, ["1"], "x");
    expect([find(exchanges, "anna", "1"), find(exchanges, "key-4999", "1")]).toEqual([undefined, "x"]);
  });
});
