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
  const turns = (text: string) => [{ role: "assistant" as const, blocks: [{ type: "text" as const, text }] }];
  const calling = (id: string) => ({
    role: "assistant" as const,
    blocks: [{ type: "tool-call" as const, id, name: "f", input: "{}", kind: "function" as const }],
  });

  test("are forgotten after ten minutes, and where there are too many or too large ones", () => {
    let now = 0;
    const exchanges = new Exchanges(() => now);
    exchanges.keep("a", ["1"], turns("x"));
    expect(exchanges.replay("a", [calling("1")])).toEqual(turns("x"));
    expect(exchanges.replay("b", [calling("1")])).toEqual([calling("1")]);
    now = 600_001;
    expect(exchanges.replay("a", [calling("1")])).toEqual([calling("1")]);
    for (let at = 0; at < 1_001; at++) exchanges.keep("a", [`many${at}`], turns("x"));
    expect(exchanges.replay("a", [calling("many0")])).toEqual([calling("many0")]);
    expect(exchanges.replay("a", [calling("many1")])).toEqual(turns("x"));
    const large = turns("x".repeat(20_000_000));
    exchanges.keep("a", ["large1"], large);
    exchanges.keep("a", ["large2"], large);
    expect(exchanges.replay("a", [calling("large1")])).toEqual([calling("large1")]);
    expect(exchanges.replay("a", [calling("large2")])).toEqual(large);
  });
});
