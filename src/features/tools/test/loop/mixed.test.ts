/** Models that call tools of weir and tools of the client in one answer, for clients of chat-completions and responses. */
import { describe, expect, test } from "bun:test";
import type { OpenAI } from "openai";
import { openaiClient } from "../../../../../test/helpers/sdk.ts";
import { Exchanges } from "../../loop/exchanges.ts";
import { type Heard, MODEL_FORMATS, type Said, startModel } from "./model.ts";
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

/** Requests and what clients send back of an answer, as their SDKs do: the message as it came. */
const SILENT: Readonly<
  Record<
    string,
    {
      path: string;
      asked: object;
      said(answer: any): any;
      again(said: any): object;
      text(answer: any): string;
    }
  >
> = {
  gemini: {
    path: "/v1beta/models/chat-completions%2Fm:generateContent",
    asked: {
      contents: [{ role: "user", parts: [{ text: "Is there tea?" }] }],
      tools: [{ functionDeclarations: [{ name: "weather" }] }],
    },
    said: ({ candidates }) => candidates[0].content,
    again(said) {
      const { functionCall } = said.parts.find((part: any) => part.functionCall);
      const { id, name } = functionCall;
      const response = { functionResponse: { id, name, response: { output: "rain" } } };
      const contents = [...(this.asked as any).contents, said, { role: "user", parts: [response] }];
      return { ...this.asked, contents };
    },
    text: ({ candidates }) => candidates[0].content.parts.map(({ text }: any) => text).join(""),
  },
  ollama: {
    path: "/api/chat",
    asked: {
      ...{ model: "chat-completions/m", stream: false },
      messages: [{ role: "user", content: "Is there tea?" }],
      tools: [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }],
    },
    said: ({ message }) => message,
    again(said) {
      const result = { role: "tool", tool_name: "weather", content: "rain" };
      return { ...this.asked, messages: [...(this.asked as any).messages, said, result] };
    },
    text: ({ message }) => message.content,
  },
};

describe("formats without words for tools that ran", () => {
  const post = async (url: string, body: object) => {
    const headers = { "content-type": "application/json", "x-weir-tools": "shop" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    return { answer: (await response.json()) as any, warnings: response.headers.get("x-weir-warnings") };
  };

  test.each(Object.entries(SILENT))(
    "%s gets its own calls, and what ran is found again",
    async (_, format) => {
      const on = await stage(script);
      const at = on.gateway.url + format.path;
      const said = format.said((await post(at, format.asked)).answer);
      expect(JSON.stringify(said)).toContain("weather");
      expect(JSON.stringify(said)).not.toContain("shop__find");
      const { answer } = await post(at, format.again(said));
      expect(format.text(answer).split("; ").sort()).toEqual(["found milk", "found tea", "rain"]);
      expect(on.bench.calls.length).toBe(2);
    },
  );

  test.each(Object.entries(SILENT))(
    "%s learns what was forgotten, and the model gets its own id",
    async (_, format) => {
      const on = await stage(script);
      const said = format.said((await post(on.gateway.url + format.path, format.asked)).answer);
      const other = await stage(({ results }) => ({ text: results.join() }));
      const { answer, warnings } = await post(other.gateway.url + format.path, format.again(said));
      expect(format.text(answer)).toBe("rain");
      expect(warnings).toContain("dropped:tools.run.memory");
      expect(JSON.stringify(other.model.heard[0]!.body)).not.toContain("call_w2_");
    },
  );
});

test("equal ids of a model in two conversations of one key do not mix them", async () => {
  const turn = ({ results, body }: Heard): Said => {
    const word = /tea|coffee/.exec(JSON.stringify(body))![0];
    if (results.length > 0) return { text: results.join("; ") };
    return { calls: [call("weather"), call("shop__find", word)] };
  };
  // Each has an upstream of its own, whose ids start again.
  const [tea, coffee] = [startModel(turn), startModel(turn)];
  const providers = {
    tea: tea.providers["chat-completions"]!,
    coffee: coffee.providers["chat-completions"]!,
  };
  const on = await stage(script, { config: { providers } });
  const asked = (word: string) => ({
    model: `${word}/m`,
    messages: [{ role: "user", content: `Is there ${word}?` }] as object[],
    tools: [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }],
  });
  const post = async (body: object) => {
    const headers = { "content-type": "application/json", "x-weir-tools": "shop" };
    const response = await fetch(`${on.gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return ((await response.json()) as any).choices[0].message;
  };
  const said = [await post(asked("tea")), await post(asked("coffee"))];
  const ids = said.map(({ tool_calls: [one] }) => one.id as string);
  expect(ids.map((id) => id.slice(-8))).toEqual(["call_1_0", "call_1_0"]);
  expect(ids[0]).not.toBe(ids[1]);
  for (const [at, word] of ["tea", "coffee"].entries()) {
    const { messages, ...rest } = asked(word);
    const result = { role: "tool", tool_call_id: ids[at], content: "rain" };
    const { content } = await post({ ...rest, messages: [...messages, said[at], result] });
    expect(content.split("; ").sort()).toEqual([`found ${word}`, "rain"]);
  }
  for (const model of [tea, coffee]) model.stop();
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
