/** The model behind the fake host: what it answers to a request, as far as the host's nature lets it. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { type Nature, Refusal } from "./host.ts";

interface Choice {
  message: JsonObject;
  finish: string;
  logprobs: boolean;
}

export interface Reply {
  choices: Choice[];
  usage: JsonObject;
}

/** @throws Refusal for what the host refuses */
export function reply(body: JsonObject, nature: Nature): Reply {
  const messages = Array.isArray(body["messages"]) ? body["messages"].filter(isObject) : undefined;
  if (!messages || messages.length === 0) throw new Refusal(400, "messages: must be a list.");
  refuseFields(body, messages, nature);
  const said = say(body, messages, nature);
  const { text, finish } = cut(said.text, body, nature);
  const { reasoning, message: thought } = think(nature);
  const message: JsonObject = {
    role: "assistant",
    content: said.calls.length > 0 ? null : (nature.reasoning === "<think>" ? reasoning : "") + text,
    ...thought,
    ...(said.calls.length > 0 && { tool_calls: said.calls }),
  };
  const logprobs = body["logprobs"] === true && nature.logprobs === "yes";
  const choice = { message, finish: said.calls.length > 0 ? "tool_calls" : finish, logprobs };
  const count = nature.n === "yes" && typeof body["n"] === "number" ? body["n"] : 1;
  const output = Math.max(1, text.split(/\s+/).length);
  return {
    choices: Array.from({ length: count }, () => choice),
    usage: { prompt_tokens: 10, completion_tokens: output, total_tokens: 10 + output },
  };
}

/** Throws for each member that the nature refuses. */
function refuseFields(body: JsonObject, messages: readonly JsonObject[], nature: Nature): void {
  const choice = body["tool_choice"];
  const format = isObject(body["response_format"]) ? body["response_format"]["type"] : undefined;
  const tools = Array.isArray(body["tools"]) ? body["tools"].filter(isObject) : [];
  const roles = messages.map(({ role }) => role);
  const stops = Array.isArray(body["stop"]) ? body["stop"].length : body["stop"] == null ? 0 : 1;
  const hasToolTurns = roles.includes("tool") || messages.some(({ tool_calls }) => tool_calls != null);
  const isStrict = tools.some((tool) => isObject(tool["function"]) && tool["function"]["strict"] === true);
  const rows: [isThere: boolean, ability: string, words: string][] = [
    ["max_tokens" in body, nature.maxTokens, "Unsupported parameter: max_tokens; use max_completion_tokens."],
    ["max_completion_tokens" in body, nature.maxCompletionTokens, "Unknown field max_completion_tokens."],
    [body["stream"] === true, nature.streaming, "stream is not supported."],
    ["stream_options" in body, nature.streamOptions, "Unrecognized request argument: stream_options"],
    [tools.length > 0 || hasToolTurns, nature.tools, "This model does not support tools."],
    [choice === "required", nature.forcedTools, "tool_choice must be auto or none."],
    [isObject(choice), nature.namedTool, "tool_choice must be a string."],
    ["parallel_tool_calls" in body, nature.oneTool, "Unknown field parallel_tool_calls."],
    [isStrict, nature.strictTools, "Unknown field strict."],
    [format === "json_schema", nature.jsonSchema, "response_format json_schema is not supported."],
    [format === "json_object", nature.jsonMode, "response_format must be json_schema or text."],
    [messages.some(hasImage), nature.images, "This model does not accept images."],
    [roles.lastIndexOf("system") > 0, nature.systemInTheMiddle, "The system message must come first."],
    [roles.includes("developer"), nature.developerRole, "Unknown role developer."],
    ["reasoning_effort" in body, nature.reasoningEffort, "Unknown field reasoning_effort."],
    [Number(body["n"] ?? 1) > 1, nature.n, "n must be 1."],
    ["logprobs" in body || "top_logprobs" in body, nature.logprobs, "logprobs are not available."],
    [stops > nature.stop, nature.stopBeyond, `stop: at most ${nature.stop} sequences.`],
  ];
  const refused = rows.find(([isThere, ability]) => isThere && ability === "refused");
  if (refused) throw new Refusal(400, refused[2]);
  const limit = limitIn(body, nature);
  if (nature.tooLong && Number.isFinite(limit) && limit > 1_000_000)
    throw new Refusal(400, "This model's maximum context length is 8192 tokens.");
  refuseHistory(messages, nature);
}

function refuseHistory(messages: readonly JsonObject[], { ids, replay, reasoning }: Nature): void {
  const calling = messages.filter(({ tool_calls }) => Array.isArray(tool_calls));
  const calls = calling.flatMap(({ tool_calls }) => tool_calls as JsonObject[]);
  if (ids === "mistral" && calls.some(({ id }) => !/^[a-zA-Z0-9]{9}$/.test(String(id))))
    throw new Refusal(400, "Tool call id must be a-z, A-Z, 0-9, with a length of 9.");
  if (reasoning === undefined) return;
  if (replay === "required" && calling.some((message) => message["reasoning_content"] == null))
    throw new Refusal(400, "The reasoning_content of the thinking turn must be passed back.");
  if (replay === "forbidden" && messages.some((message) => message["reasoning_content"] != null))
    throw new Refusal(400, "messages must not contain reasoning_content.");
}

function hasImage({ content }: JsonObject): boolean {
  return Array.isArray(content) && content.some((part) => isObject(part) && part["type"] === "image_url");
}

function think({ reasoning }: Nature): { reasoning: string; message: JsonObject } {
  if (reasoning === undefined) return { reasoning: "", message: {} };
  if (reasoning === "<think>") return { reasoning: "<think>hm</think>", message: {} };
  return { reasoning: "", message: { [reasoning]: "hm" } };
}

interface Said {
  text: string;
  calls: JsonObject[];
}

function say(body: JsonObject, messages: readonly JsonObject[], nature: Nature): Said {
  const prompt = textOf(messages.at(-1)!);
  const calls = callsFor(body, messages, prompt, nature);
  if (calls.length > 0) return { text: "", calls };
  return { text: textFor(body, messages, prompt, nature), calls: [] };
}

function textFor(body: JsonObject, messages: readonly JsonObject[], prompt: string, nature: Nature): string {
  if (messages.some((message, at) => isOrder(message, at, nature))) return "ZEBRA";
  if (messages.at(-1)!["role"] === "tool" || /snow/.test(prompt)) return "It snows in Paris.";
  if (messages.some(hasImage) && nature.images === "yes") return "Red";
  if (/colour fills/.test(prompt)) return "I see no image.";
  const format = isObject(body["response_format"]) ? body["response_format"]["type"] : undefined;
  const asksJson = messages.some((message) => /JSON object only/.test(textOf(message)));
  if (format === "json_schema" && nature.jsonSchema === "yes") return '{"colour":"red"}';
  if ((format === "json_object" && nature.jsonMode === "yes") || asksJson) return '{"colour":"red"}';
  if (/purple/.test(prompt)) return '{"colour":"purple"}';
  if (/from 1 to 60/.test(prompt)) return Array.from({ length: 60 }, (_, at) => `word${at}`).join(" ");
  if (/from 1 to 9/.test(prompt)) return "1 2 3 4 5 6 7 8 9";
  if (/red green blue white/.test(prompt)) return "red green blue white";
  return "ready";
}

/** Whether the model follows a message that orders the word ZEBRA. */
function isOrder(message: JsonObject, at: number, nature: Nature): boolean {
  if (!/ZEBRA/.test(textOf(message))) return false;
  if (message["role"] === "developer") return nature.developerRole === "yes";
  return message["role"] !== "system" || at === 0 || nature.systemInTheMiddle === "yes";
}

function callsFor(
  body: JsonObject,
  messages: readonly JsonObject[],
  prompt: string,
  nature: Nature,
): JsonObject[] {
  const tools = Array.isArray(body["tools"]) && nature.tools === "yes" ? body["tools"].filter(isObject) : [];
  if (tools.length === 0 || messages.at(-1)!["role"] === "tool") return [];
  const choice = body["tool_choice"];
  const named = isObject(choice) && isObject(choice["function"]) ? choice["function"]["name"] : undefined;
  const isForced = choice === "required" && nature.forcedTools === "yes";
  const isNamed = named !== undefined && nature.namedTool === "yes";
  if (!isForced && !isNamed && !/\btool\b/i.test(prompt)) return [];
  const name = isNamed ? named : (tools[0]!["function"] as JsonObject)["name"];
  const isOne = body["parallel_tool_calls"] === false && nature.oneTool === "yes";
  const count = /Rome/.test(prompt) && nature.parallelTools === "yes" && !isOne ? 2 : 1;
  const own = tools.find((tool) => (tool["function"] as JsonObject)["name"] === name)![
    "function"
  ] as JsonObject;
  const input = /purple/.test(prompt) ? colourFor(own, nature) : { city: "Paris" };
  return Array.from({ length: count }, (_, at) => ({
    id: nature.ids === "mistral" ? `abcdefgh${at}` : `call_${at}`,
    type: "function",
    function: { name: name as Json, arguments: JSON.stringify(input) },
  }));
}

function colourFor(own: JsonObject, nature: Nature): JsonObject {
  return { colour: own["strict"] === true && nature.strictTools === "yes" ? "red" : "purple" };
}

/** Applies stop sequences and the output limit. */
function cut(text: string, body: JsonObject, nature: Nature): { text: string; finish: string } {
  const given = Array.isArray(body["stop"]) ? body["stop"] : body["stop"] == null ? [] : [body["stop"]];
  const stops = given.slice(0, nature.stop).map(String);
  const ends = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  if (ends.length > 0) return { text: text.slice(0, Math.min(...ends)), finish: "stop" };
  const words = text.split(" ");
  const limit = limitIn(body, nature);
  return words.length <= limit
    ? { text, finish: "stop" }
    : { text: words.slice(0, limit).join(" "), finish: "length" };
}

function limitIn(body: JsonObject, nature: Nature): number {
  const limits = [
    nature.maxTokens === "yes" ? body["max_tokens"] : undefined,
    nature.maxCompletionTokens === "yes" ? body["max_completion_tokens"] : undefined,
  ];
  return Math.min(...limits.map((limit) => (typeof limit === "number" ? limit : Number.POSITIVE_INFINITY)));
}

function textOf({ content }: JsonObject): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .join(" ");
}
