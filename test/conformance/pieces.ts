/**
 * What a request says, piece by piece and in order, each with its JSON path: texts with who says them, calls, results by the
 * call they answer, media by their bytes, tools with their schemas. The paths are those that losses are reported under.
 */
import type { Api } from "./policy.ts";

export type Speaker = "system" | "user" | "assistant" | "tool";

export interface Piece {
  kind: "text" | "call" | "result" | "image" | "document" | "audio" | "tool";
  path: string;
  by: Speaker;
  /** The text; name and arguments of a call; digest or address of media; the name of a tool. */
  value: string;
  /** The id of a call, and of the call a result answers. */
  id?: string;
  /** Of a result: what is in it. */
  inside?: Piece[];
  /** Of a result: the tool failed. */
  failed?: boolean;
  /** Of a tool: its description and its schema. */
  description?: string;
  schema?: unknown;
  strict?: boolean;
}

type Value = Record<string, unknown>;

export const piecesOf: Record<Api, (body: Value) => Piece[]> = {
  chat: (body) => [
    ...listOf(body["messages"]).flatMap((message, index) => chatMessage(message, `messages[${index}]`)),
    ...listOf(body["tools"]).flatMap((tool, index) => {
      const named = tool["custom"] ? "custom" : "function";
      return declared(objectOf(tool[named]), `tools[${index}]`, `.${named}`, "parameters");
    }),
    ...listOf(body["functions"]).flatMap((tool, index) =>
      declared(tool, `functions[${index}]`, "", "parameters"),
    ),
  ],
  messages: (body) => [
    // Claude Code's accounting line is for Anthropic alone.
    ...content(body["system"], "system", "system").filter(
      (piece) => !piece.value.startsWith("x-anthropic-billing"),
    ),
    ...listOf(body["messages"]).flatMap((turn, index) =>
      content(turn["content"], `messages[${index}].content`, turn["role"] as Speaker),
    ),
    ...listOf(body["tools"]).flatMap((tool, index) => declared(tool, `tools[${index}]`, "", "input_schema")),
  ],
};

function chatMessage(message: Value, path: string): Piece[] {
  const by = SPEAKERS[String(message["role"])] ?? "user";
  const said = content(message["content"], `${path}.content`, by);
  if (message["role"] === "tool" || message["role"] === "function")
    return [
      made("result", `${path}.content`, "tool", "", { id: textOf(message["tool_call_id"]), inside: said }),
    ];
  const calls = listOf(message["tool_calls"]).map((call, index) => {
    const custom = call["custom"] as Value | undefined;
    const named = objectOf(custom ?? call["function"]);
    const input = custom ? { input: custom["input"] } : parse(named["arguments"]);
    return madeCall(named["name"], input, call["id"], `${path}.tool_calls[${index}]`);
  });
  const legacy = objectOf(message["function_call"]);
  if (legacy["name"])
    calls.push(madeCall(legacy["name"], parse(legacy["arguments"]), "", `${path}.function_call`));
  return [...said, ...content(message["refusal"], `${path}.refusal`, by), ...calls];
}

const SPEAKERS: Record<string, Speaker> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool",
  function: "tool",
};

/** A string or a list of parts or blocks of either format. Reasoning has rules of its own and is no piece. */
function content(value: unknown, path: string, by: Speaker): Piece[] {
  if (typeof value === "string") return value.trim() === "" ? [] : [made("text", path, by, value)];
  return listOf(value).flatMap((part, index) => {
    const read = PARTS[String(part["type"])];
    return read ? read(part, `${path}[${index}]`, by) : [];
  });
}

const PARTS: Record<string, (part: Value, path: string, by: Speaker) => Piece[]> = {
  text: (part, path, by) => content(part["text"], path, by),
  refusal: (part, path, by) => content(part["refusal"], path, by),
  image: (part, path, by) => [made("image", path, by, mediaOf(objectOf(part["source"])))],
  image_url: (part, path, by) => [
    made("image", path, by, place(textOf(objectOf(part["image_url"])["url"] ?? part["image_url"]))),
  ],
  file: (part, path, by) => {
    const { file_data: data, file_id: id } = objectOf(part["file"]);
    return [made("document", path, by, id ? `file ${textOf(id)}` : place(textOf(data)))];
  },
  document_url: (part, path, by) => [made("document", path, by, place(textOf(part["document_url"])))],
  input_audio: (part, path, by) => [
    // Mistral has the bytes themselves in the member.
    made("audio", path, by, digest(textOf(objectOf(part["input_audio"])["data"] ?? part["input_audio"]))),
  ],
  document: (part, path, by) => {
    const source = objectOf(part["source"]);
    if (source["type"] === "text") return content(source["data"], path, by);
    if (source["type"] === "content") return content(source["content"], path, by);
    return [made("document", path, by, mediaOf(source))];
  },
  tool_use: (part, path) => [madeCall(part["name"], part["input"], part["id"], path)],
  tool_result: (part, path) => {
    const inside = content(part["content"], `${path}.content`, "tool");
    const failed = part["is_error"] === true;
    return [
      made("result", `${path}.content`, "tool", "", { id: textOf(part["tool_use_id"]), inside, failed }),
    ];
  },
};

/** Where the bytes are, or what they are. */
function mediaOf(source: Value): string {
  if (source["type"] === "base64") return digest(textOf(source["data"]));
  return source["type"] === "file" ? `file ${textOf(source["file_id"])}` : textOf(source["url"]);
}

/** An address, or the bytes of a data URI. */
export function place(url: string): string {
  const data = /^data:[^,]*,([^]*)$/.exec(url);
  return data ? digest(data[1]!) : url;
}

/** Bytes are equal when these are; base64 may be wrapped and padded in more than one way. */
function digest(base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  return `${bytes.length} bytes ${Bun.hash(bytes).toString(36)}`;
}

export function madeCall(name: unknown, input: unknown, id: unknown, path: string): Piece {
  return made("call", path, "assistant", `${String(name)} ${canonical(input ?? {})}`, { id: textOf(id) });
}

function declared(tool: Value, path: string, holder: string, schemaName: string): Piece[] {
  if (typeof tool["name"] !== "string") return [];
  // A server tool is the vendor's own affair.
  if (typeof tool["type"] === "string" && !/^(custom|function)$/.test(tool["type"])) return [];
  return [
    made("tool", `${path}${holder}`, "system", tool["name"], {
      description: textOf(tool["description"]),
      schema: tool[schemaName],
      strict: tool["strict"] === true,
    }),
  ];
}

export function made(
  kind: Piece["kind"],
  path: string,
  by: Speaker,
  value: string,
  more: Partial<Piece> = {},
): Piece {
  return { kind, path, by, value, ...more };
}

/** Arguments that are not JSON stay what they are. */
function parse(text: unknown): unknown {
  if (typeof text !== "string" || text.trim() === "") return text || {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** JSON with sorted keys. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([left], [right]) => (left < right ? -1 : 1)))
      : each,
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function listOf(value: unknown): Value[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "object" && each !== null) : [];
}

function objectOf(value: unknown): Value {
  return typeof value === "object" && value !== null ? (value as Value) : {};
}
