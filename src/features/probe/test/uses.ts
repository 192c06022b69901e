/**
 * What clients ask for, one use for each feature: with the official SDK of OpenAI, whose format the host speaks, and with that
 * of Anthropic, which weir translates.
 */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { COLOURS, fitsColours } from "../probes/tools.ts";

/** What a client saw. `warnings`: the header `x-weir-warnings`. */
export interface Outcome {
  works: boolean;
  warnings: string;
}

export interface Use {
  name: string;
  run(url: string): Promise<Outcome>;
}

const MODEL = "acme/chat-1";
const RED_DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const STOPS = [...Array.from({ length: 15 }, (_, at) => `#${at}#`), "blue"];
const CITY = { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] };

type Ask = OpenAI.ChatCompletionCreateParamsNonStreaming;
type Completion = OpenAI.ChatCompletion;

const tool = (name: string): OpenAI.ChatCompletionTool => ({
  type: "function",
  function: { name, parameters: CITY },
});
const WEATHER = tool("get_weather");
const say = (content: string): Ask["messages"] => [{ role: "user", content }];
const textOf = ({ choices: [choice] }: Completion) =>
  (choice?.message.content ?? "").replace(/^<think>.*?<\/think>/, "");
const callsOf = ({ choices: [choice] }: Completion) => choice?.message.tool_calls ?? [];
const inputOf = (completion: Completion) => {
  const [call] = callsOf(completion);
  return call?.type === "function" ? call.function.arguments : "";
};

function clientFor(url: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: "unused", maxRetries: 0 });
}

function native(name: string, more: Partial<Ask>, works: (completion: Completion) => boolean): Use {
  return {
    name,
    async run(url) {
      const ask = { model: MODEL, messages: say("Hello"), ...more };
      const { data, response } = await clientFor(url).chat.completions.create(ask).withResponse();
      return { works: works(data), warnings: response.headers.get("x-weir-warnings") ?? "" };
    },
  };
}

const HISTORY: Ask["messages"] = [
  ...say("Use the tool."),
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "call_0123456789abcdef", type: "function", function: { name: "get_weather", arguments: "{}" } },
    ],
  },
  { role: "tool", tool_call_id: "call_0123456789abcdef", content: "snow" },
];

const COUNT = say("Write the numbers from 1 to 60");

export const NATIVE: readonly Use[] = [
  native(
    "max_tokens",
    { messages: COUNT, max_tokens: 5 },
    (one) => one.choices[0]?.finish_reason === "length",
  ),
  native(
    "max_completion_tokens",
    { messages: COUNT, max_completion_tokens: 5 },
    (one) => one.choices[0]?.finish_reason === "length",
  ),
  native("usage", {}, ({ usage }) => (usage?.prompt_tokens ?? 0) > 0),
  {
    name: "stream",
    async run(url) {
      const ask = {
        model: MODEL,
        messages: say("from 1 to 9"),
        stream: true as const,
        stream_options: { include_usage: true },
      };
      const { data, response } = await clientFor(url).chat.completions.create(ask).withResponse();
      let text = "";
      let counted = 0;
      for await (const chunk of data) {
        text += chunk.choices[0]?.delta.content ?? "";
        counted += chunk.usage?.prompt_tokens ?? 0;
      }
      const works = text.endsWith("1 2 3 4 5 6 7 8 9") && counted > 0;
      return { works, warnings: response.headers.get("x-weir-warnings") ?? "" };
    },
  },
  native("tools", { messages: say("Use the tool."), tools: [WEATHER] }, (one) => callsOf(one).length > 0),
  native("tool history", { messages: HISTORY, tools: [WEATHER] }, (one) => /snow/.test(textOf(one))),
  {
    name: "tool conversation",
    async run(url) {
      const chat = clientFor(url).chat.completions;
      const first = { model: MODEL, messages: say("Use the tool."), tools: [WEATHER] };
      const { data, response } = await chat.create(first).withResponse();
      const [call] = callsOf(data);
      if (!call) return { works: false, warnings: response.headers.get("x-weir-warnings") ?? "" };
      const messages: Ask["messages"] = [
        ...first.messages,
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: call.id, content: "snow" },
      ];
      const second = await chat.create({ ...first, messages }).withResponse();
      const warnings = [response, second.response].map(({ headers }) => headers.get("x-weir-warnings") ?? "");
      return { works: /snow/.test(textOf(second.data)), warnings: warnings.join("") };
    },
  },
  native(
    "tool_choice required",
    { tools: [WEATHER], tool_choice: "required" },
    (one) => callsOf(one).length > 0,
  ),
  native(
    "tool_choice named",
    { tools: [WEATHER, tool("get_time")], tool_choice: { type: "function", function: { name: "get_time" } } },
    (one) => callsOf(one).some((call) => call.type === "function" && call.function.name === "get_time"),
  ),
  native(
    "parallel_tool_calls false",
    { messages: say("Use the tool for Paris and Rome."), tools: [WEATHER], parallel_tool_calls: false },
    (one) => callsOf(one).length === 1,
  ),
  native(
    "strict tools",
    {
      messages: say("Use the tool with purple."),
      tools: [{ type: "function", function: { name: "paint", parameters: COLOURS, strict: true } }],
    },
    (one) => fitsColours(inputOf(one)),
  ),
  native(
    "JSON schema",
    {
      messages: say("purple"),
      response_format: { type: "json_schema", json_schema: { name: "paint", strict: true, schema: COLOURS } },
    },
    (one) => fitsColours(textOf(one)),
  ),
  native("JSON mode", { response_format: { type: "json_object" } }, (one) => textOf(one).includes("{")),
  native(
    "images",
    {
      messages: [
        {
          role: "user",
          content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${RED_DOT}` } }],
        },
      ],
    },
    (one) => /red/i.test(textOf(one)),
  ),
  native(
    "system in the middle",
    {
      messages: [
        ...say("Hello"),
        { role: "assistant", content: "Hi" },
        { role: "system", content: "Say ZEBRA" },
        ...say("Go"),
      ],
    },
    (one) => /ZEBRA/.test(textOf(one)),
  ),
  native("developer role", { messages: [{ role: "developer", content: "Say ZEBRA" }, ...say("Go")] }, (one) =>
    /ZEBRA/.test(textOf(one)),
  ),
  native("reasoning_effort", { reasoning_effort: "low" }, (one) => one.choices.length > 0),
  native(
    "16 stop sequences",
    { messages: say("red green blue white"), stop: STOPS },
    (one) => !/blue|white/.test(textOf(one)),
  ),
  native(
    "2 stop sequences",
    { messages: say("red green blue white"), stop: ["#", "blue"] },
    (one) => !/blue|white/.test(textOf(one)),
  ),
  native("n", { n: 2 }, (one) => one.choices.length === 2),
  native("logprobs", { logprobs: true, top_logprobs: 2 }, (one) => one.choices[0]?.logprobs?.content != null),
  {
    name: "embeddings",
    async run(url) {
      const ask = clientFor(url).embeddings.create({ model: "acme/some-embed", input: "word" });
      const { data, response } = await ask.withResponse();
      return { works: data.data.length === 1, warnings: response.headers.get("x-weir-warnings") ?? "" };
    },
  },
];

type Message = Anthropic.Message;
type Question = Anthropic.MessageCreateParamsNonStreaming;

function translated(name: string, more: Partial<Question>, works: (message: Message) => boolean): Use {
  return {
    name,
    async run(url) {
      const client = new Anthropic({ baseURL: url, apiKey: "unused", maxRetries: 0 });
      const ask: Question = {
        model: MODEL,
        max_tokens: 50,
        messages: [{ role: "user", content: "Hello" }],
        ...more,
      };
      const { data, response } = await client.messages.create(ask).withResponse();
      return { works: works(data), warnings: response.headers.get("x-weir-warnings") ?? "" };
    },
  };
}

const asking = (content: string): Question["messages"] => [{ role: "user", content }];
const saying = ({ content }: Message) =>
  content.flatMap((block) => (block.type === "text" ? block.text : [])).join("");
const using = ({ content }: Message) => content.filter((block) => block.type === "tool_use");
const weather: Anthropic.Tool = { name: "get_weather", input_schema: CITY };
const time: Anthropic.Tool = { name: "get_time", input_schema: CITY };

export const TRANSLATED: readonly Use[] = [
  translated(
    "max_tokens",
    { messages: asking("from 1 to 60"), max_tokens: 5 },
    ({ stop_reason }) => stop_reason === "max_tokens",
  ),
  translated("usage", {}, ({ usage }) => usage.input_tokens > 0),
  {
    name: "stream",
    async run(url) {
      const client = new Anthropic({ baseURL: url, apiKey: "unused", maxRetries: 0 });
      const ask = { model: MODEL, max_tokens: 50, messages: asking("from 1 to 9"), stream: true as const };
      const { data, response } = await client.messages.create(ask).withResponse();
      let text = "";
      let isWhole = false;
      for await (const event of data) {
        if (event.type === "content_block_delta" && event.delta.type === "text_delta")
          text += event.delta.text;
        if (event.type === "message_stop") isWhole = true;
      }
      return {
        works: isWhole && text === "1 2 3 4 5 6 7 8 9",
        warnings: response.headers.get("x-weir-warnings") ?? "",
      };
    },
  },
  translated(
    "tools",
    { messages: asking("Use the tool."), tools: [weather] },
    (one) => using(one).length > 0,
  ),
  translated(
    "tool history",
    {
      messages: [
        ...asking("Use the tool."),
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "toolu_0123456789", name: "get_weather", input: {} }],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "toolu_0123456789", content: "snow" }],
        },
      ],
      tools: [weather],
    },
    (one) => /snow/.test(saying(one)),
  ),
  translated(
    "tool_choice any",
    { tools: [weather], tool_choice: { type: "any" } },
    (one) => using(one).length > 0,
  ),
  translated(
    "tool_choice named",
    { tools: [weather, time], tool_choice: { type: "tool", name: "get_time" } },
    (one) => using(one).some(({ name }) => name === "get_time"),
  ),
  translated(
    "disable_parallel_tool_use",
    {
      messages: asking("Use the tool for Paris and Rome."),
      tools: [weather],
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
    },
    (one) => using(one).length === 1,
  ),
  translated(
    "strict tools",
    {
      messages: asking("Use the tool with purple."),
      tools: [{ name: "paint", strict: true, input_schema: COLOURS as Anthropic.Tool.InputSchema }],
    },
    (one) => fitsColours(JSON.stringify(using(one)[0]?.input)),
  ),
  translated(
    "JSON schema",
    { messages: asking("purple"), output_config: { format: { type: "json_schema", schema: COLOURS } } },
    (one) => fitsColours(saying(one)),
  ),
  translated(
    "images",
    {
      messages: [
        {
          role: "user",
          content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: RED_DOT } }],
        },
      ],
    },
    (one) => /red/i.test(saying(one)),
  ),
  translated("system", { system: "Say ZEBRA" }, (one) => /ZEBRA/.test(saying(one))),
  translated("effort", { output_config: { effort: "low" } }, (one) => one.content.length > 0),
  translated(
    "16 stop sequences",
    { messages: asking("red green blue white"), stop_sequences: STOPS },
    (one) => !/blue|white/.test(saying(one)),
  ),
];
