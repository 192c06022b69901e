/** What an upstream refuses in a body although its shape is right: the vendors' documented rules. */
import { isObject, type JsonObject } from "../../src/core/json.ts";
import { haveDocument, judge } from "../formats/chat-completions/openapi.ts";
import type { Traits } from "../../src/core/provider.ts";
import type { Api } from "./policy.ts";
import { requestShape } from "./shapes.ts";
import { traitsOf } from "./vendors.ts";

type Value = Record<string, unknown>;

/** Faults of a body that reached an upstream of the API, for a model named `provider/model`. */
export const requestFaults: Record<Api, (body: Value, model: string) => string[]> = {
  chat: (body, model) => {
    const known = withoutOwn(inDialect(body, traitsOf(model)), model);
    return [
      ...requestShape.chat(known),
      ...byDocument(known as JsonObject).map((fault) => `OpenAI's document: ${fault}`),
      ...chatTurns(body),
      ...toolNames(body, chatName),
    ];
  },
  messages: (body) => [
    ...requestShape.messages(body),
    ...messageTurns(body),
    ...toolNames(body, (tool) => tool["name"]),
    ...messageLimits(body),
  ],
};

/** The body with a text in place of each part that only the provider's dialect has: OpenAI's types do not know them. */
function inDialect(body: Value, { documentUrl, imageInToolMessage }: Traits): Value {
  const foreign = (part: Value, role: unknown) =>
    (documentUrl === "document_url" && part["type"] === "document_url") ||
    (imageInToolMessage && role === "tool" && part["type"] === "image_url");
  const messages = listOf(body["messages"]).map((message) =>
    Array.isArray(message["content"])
      ? {
          ...message,
          content: listOf(message["content"]).map((part) =>
            foreign(part, message["role"])
              ? { type: "text", text: "a part of the provider's dialect" }
              : part,
          ),
        }
      : message,
  );
  return { ...body, messages };
}

/** Members that only a provider's dialect has, which its patch writes. */
const OWN_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  moonshot: ["thinking"],
  qwen: ["enable_thinking", "thinking_budget"],
  zhipu: ["thinking"],
};

function withoutOwn(body: Value, model: string): Value {
  const own = OWN_MEMBERS[model.split("/", 1)[0]!] ?? [];
  return Object.fromEntries(Object.entries(body).filter(([name]) => !own.includes(name)));
}

/** OpenAI's published document knows limits that types cannot say; it is not part of the repository. */
function byDocument(body: JsonObject): string[] {
  return haveDocument ? judge("CreateChatCompletionRequest", body) : [];
}

function messageTurns(body: Value): string[] {
  const turns = listOf(body["messages"]);
  const faults: string[] = [];
  const say = (index: number, sentence: string) => faults.push(`messages[${index}]: ${sentence}`);
  if (turns[0]?.["role"] !== "user") say(0, "the first turn is not the user's");
  if (turns.at(-1)?.["role"] === "assistant") say(turns.length - 1, "this model does not continue an answer");
  let open: string[] = [];
  const known = new Set<string>();
  turns.forEach((turn, index) => {
    if (index > 0 && turn["role"] === turns[index - 1]!["role"]) say(index, "two turns of one role in a row");
    if (turn["role"] === "system" && turns[index - 1]?.["role"] !== "user")
      say(index, "a system turn in a wrong place");
    const blocks = blocksOf(turn["content"]);
    if (blocks.length === 0) say(index, "no content");
    const blank = blocks.some((block) => block["type"] === "text" && String(block["text"]).trim() === "");
    if (blank) say(index, "text blocks must contain non-whitespace text");
    const results = blocks.filter((block) => block["type"] === "tool_result");
    const isFirst = blocks.slice(0, results.length).every((block) => block["type"] === "tool_result");
    if (!isFirst) say(index, "tool results do not come first");
    const answered = results.map((block) => String(block["tool_use_id"]));
    if (new Set(answered).size !== answered.length) say(index, "a call is answered twice");
    for (const id of open) if (!answered.includes(id)) say(index, `the call ${id} is not answered`);
    for (const id of answered)
      if (!open.includes(id)) say(index, `a result for ${id}, which is no call before it`);
    open = blocks.filter((block) => block["type"] === "tool_use").map((block) => String(block["id"]));
    for (const id of open) {
      if (!/^[a-zA-Z0-9_-]+$/.test(id)) say(index, `the call id ${id} is not legal`);
      if (known.has(id)) say(index, `the call id ${id} is not unique`);
      known.add(id);
    }
  });
  if (open.length > 0) say(turns.length - 1, "calls without results at the end");
  return faults;
}

function messageLimits(body: Value): string[] {
  const faults: string[] = [];
  const { temperature, thinking, top_p: topP, max_tokens: maxTokens } = body;
  const thinks = isObject(thinking as never) && (thinking as Value)["type"] !== "disabled";
  if (typeof temperature === "number" && temperature > 1) faults.push("temperature: range: 0..1");
  if (thinks && temperature !== undefined && temperature !== 1) faults.push("temperature with thinking");
  if (temperature !== undefined && topP !== undefined) faults.push("temperature and top_p");
  const budget = thinks ? (thinking as Value)["budget_tokens"] : undefined;
  if (typeof budget === "number" && (budget < 1024 || budget >= Number(maxTokens)))
    faults.push(`thinking.budget_tokens: ${budget} of ${String(maxTokens)}`);
  const choice = body["tool_choice"] as Value | undefined;
  if (thinks && budget !== undefined && (choice?.["type"] === "any" || choice?.["type"] === "tool"))
    faults.push("thinking may not be enabled when tool_choice forces tool use");
  for (const stop of (body["stop_sequences"] as string[] | undefined) ?? [])
    if (stop.trim() === "") faults.push("stop_sequences: blank");
  const marks = JSON.stringify(body).split('"cache_control":{').length - 1;
  if (marks > 4) faults.push(`${marks} cache marks`);
  const tools = listOf(body["tools"]);
  if (tools.filter((tool) => tool["strict"] === true).length > 20) faults.push("more than 20 strict tools");
  for (const [index, tool] of tools.entries()) {
    const schema = tool["input_schema"] as Value | undefined;
    if (tool["type"] === undefined || tool["type"] === "custom")
      if (schema?.["type"] !== "object")
        faults.push(`tools[${index}].input_schema.type: Input should be 'object'`);
    const branch = ["anyOf", "oneOf", "allOf"].find((name) => schema?.[name] !== undefined);
    if (branch) faults.push(`tools[${index}].input_schema: ${branch} at the top`);
  }
  return faults;
}

function chatTurns(body: Value): string[] {
  const faults: string[] = [];
  let open: string[] = [];
  listOf(body["messages"]).forEach((message, index) => {
    const say = (sentence: string) => faults.push(`messages[${index}]: ${sentence}`);
    if (message["role"] === "tool") {
      const id = String(message["tool_call_id"]);
      if (!open.includes(id)) say(`a result for ${id}, which is no open call`);
      open = open.filter((each) => each !== id);
      return;
    }
    for (const id of open) say(`the call ${id} is not answered`);
    open = listOf(message["tool_calls"]).map((call) => String(call["id"]));
    if (new Set(open).size !== open.length) say("call ids are not unique");
    for (const call of listOf(message["tool_calls"])) {
      const { arguments: input } = (call["function"] ?? {}) as { arguments?: string };
      if (input !== undefined && !isJson(input)) say("arguments are not JSON");
    }
  });
  for (const id of open) faults.push(`the call ${id} is not answered at the end`);
  return faults;
}

function toolNames(body: Value, nameOf: (tool: Value) => unknown): string[] {
  const names = listOf(body["tools"])
    .map(nameOf)
    .filter((name) => name !== undefined)
    .map(String);
  const faults = names
    .filter((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    .map((name) => `tool name ${name}`);
  if (new Set(names).size !== names.length) faults.push("tools: names must be unique");
  const forced = body["tool_choice"] as Value | string | undefined;
  const wanted = typeof forced === "object" ? (forced["name"] ?? chatName(forced)) : undefined;
  if (wanted !== undefined && !names.includes(String(wanted)))
    faults.push(`tool_choice: no tool ${String(wanted)}`);
  return faults;
}

function chatName(tool: Value): unknown {
  return ((tool["function"] ?? tool["custom"]) as Value | undefined)?.["name"];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function blocksOf(content: unknown): Value[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
}

function listOf(value: unknown): Value[] {
  return Array.isArray(value) ? (value as Value[]) : [];
}
