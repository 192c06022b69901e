/** Reads the text of an answer as it arrives, in each client format. */
import type { FormatName } from "../../data/request.ts";

/** The parts of an answer that a person reads. */
export interface ShownAnswer {
  text: string;
  reasoning: string;
  /** Calls of tools, one line each: `get_weather({"city":"Ulm"})`. */
  tools: readonly string[];
  /** Message of an error, in the body or in an event of the stream. */
  error?: string;
  /** The stream has ended as its format says. */
  isWhole: boolean;
}

type Members = Readonly<Record<string, unknown>>;

/** Collects the parts of one answer. */
export class AnswerReader {
  readonly #format: FormatName;
  #rest = "";
  #text = "";
  #reasoning = "";
  readonly #tools = new Map<string, { name: string; input: string }>();
  #error: string | undefined;
  #isWhole = false;

  constructor(format: FormatName) {
    this.#format = format;
  }

  get answer(): ShownAnswer {
    return {
      text: this.#text,
      reasoning: this.#reasoning,
      tools: [...this.#tools.values()].map(({ name, input }) => `${name}(${input})`),
      isWhole: this.#isWhole,
      ...(this.#error !== undefined && { error: this.#error }),
    };
  }

  /** @param text the next part of a stream of server-sent events */
  push(text: string): void {
    if (!text.includes("\n")) {
      // A frame of megabytes arrives in many parts: it is searched once.
      this.#rest += text;
      return;
    }
    const frames = (this.#rest + text).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = frames.pop()!;
    for (const frame of frames) this.#frame(frame);
  }

  /** @param text a whole body of JSON */
  body(text: string): void {
    const value = parse(text);
    if (!value) {
      this.#error ??= text.slice(0, 2_000);
      return;
    }
    this.#isWhole = true;
    if (value["error"]) this.#fail(value["error"]);
    else READ_BODY[this.#format](value, this.#sink);
  }

  #frame(frame: string): void {
    const data = frame
      .split("\n")
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).replace(/^ /, ""))
      .join("\n");
    if (data === "[DONE]") this.#isWhole = true;
    const value = data === "" ? undefined : parse(data);
    if (!value) return;
    const failed = value["type"] === "response.failed" ? members(value["response"])["error"] : value["error"];
    if (failed) this.#fail(failed);
    else if (value["type"] === "error") this.#fail(value);
    else READ_EVENT[this.#format](value, this.#sink);
  }

  #fail(error: unknown): void {
    const message = typeof error === "string" ? error : members(error)["message"];
    this.#error = typeof message === "string" ? message : JSON.stringify(error);
  }

  readonly #sink: Sink = {
    text: (part) => (this.#text += string(part)),
    reasoning: (part) => (this.#reasoning += string(part)),
    tool: (id, name, input) => {
      const key = String(id);
      const tool = this.#tools.get(key) ?? { name: "", input: "" };
      if (typeof name === "string") tool.name = name;
      tool.input += string(input);
      this.#tools.set(key, tool);
    },
    whole: () => void (this.#isWhole = true),
  };
}

interface Sink {
  text(part: unknown): void;
  reasoning(part: unknown): void;
  tool(id: unknown, name: unknown, input: unknown): void;
  whole(): void;
}

type Read = (value: Members, sink: Sink) => void;

const READ_EVENT: Readonly<Record<FormatName, Read>> = {
  "chat-completions"(chunk, sink) {
    const delta = members(members(list(chunk["choices"])[0])["delta"]);
    sink.text(delta["content"]);
    sink.reasoning(delta["reasoning_content"] ?? delta["reasoning"]);
    readChatTools(delta, sink);
  },
  messages(event, sink) {
    const index = event["index"];
    const block = members(event["content_block"]);
    const delta = members(event["delta"]);
    if (event["type"] === "content_block_start" && isToolUse(block)) sink.tool(index, block["name"], "");
    if (event["type"] === "content_block_start") sink.text(block["text"]);
    if (event["type"] === "content_block_delta") {
      sink.text(delta["text"]);
      sink.reasoning(delta["thinking"]);
      if (delta["type"] === "input_json_delta") sink.tool(index, undefined, delta["partial_json"]);
    }
    if (event["type"] === "message_stop") sink.whole();
  },
  responses(event, sink) {
    const item = members(event["item"]);
    switch (event["type"]) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        return sink.text(event["delta"]);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return sink.reasoning(event["delta"]);
      case "response.output_item.added":
        return item["type"] === "function_call" ? sink.tool(item["id"], item["name"], "") : undefined;
      case "response.function_call_arguments.delta":
        return sink.tool(event["item_id"], undefined, event["delta"]);
      case "response.completed":
      case "response.incomplete":
        return sink.whole();
    }
  },
};

const READ_BODY: Readonly<Record<FormatName, Read>> = {
  "chat-completions"(body, sink) {
    const message = members(members(list(body["choices"])[0])["message"]);
    sink.text(message["content"] ?? message["refusal"]);
    sink.reasoning(message["reasoning_content"] ?? message["reasoning"]);
    readChatTools(message, sink);
  },
  messages(body, sink) {
    list(body["content"]).forEach((entry, index) => {
      const block = members(entry);
      sink.text(block["text"]);
      sink.reasoning(block["thinking"]);
      if (isToolUse(block)) sink.tool(index, block["name"], JSON.stringify(block["input"]));
    });
  },
  responses(body, sink) {
    for (const entry of list(body["output"])) {
      const item = members(entry);
      const isReasoning = item["type"] === "reasoning";
      for (const part of [...list(item["summary"]), ...list(item["content"])])
        if (isReasoning) sink.reasoning(members(part)["text"]);
        else sink.text(members(part)["text"] ?? members(part)["refusal"]);
      if (item["type"] === "function_call") sink.tool(item["id"], item["name"], item["arguments"]);
    }
  },
};

function readChatTools(message: Members, sink: Sink): void {
  list(message["tool_calls"]).forEach((entry, at) => {
    const { index = at, function: called } = members(entry);
    sink.tool(index, members(called)["name"], members(called)["arguments"]);
  });
}

function isToolUse(block: Members): boolean {
  return block["type"] === "tool_use" || block["type"] === "server_tool_use";
}

function parse(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Members) : undefined;
  } catch {
    return undefined;
  }
}

const members = (value: unknown): Members =>
  typeof value === "object" && value !== null ? (value as Members) : {};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const string = (value: unknown): string => (typeof value === "string" ? value : "");
