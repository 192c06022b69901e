/** The request `sampling/createMessage` of a server (revisions 2025-03-26 to 2026-07-28), as weir asks a model. */
import type { AskRequest } from "../../../core/ask.ts";
import type { Block, Tool, ToolChoice, Turn } from "../../../core/chat.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { readResult } from "../loop/results.ts";
import { CODE, McpError } from "../wire/messages.ts";

/** Without its model. Members that only a client with a user has (`includeContext`, `metadata`) are left out. */
export type Wanted = Omit<AskRequest, "model">;

const CHOICES: Readonly<Record<string, ToolChoice>> = {
  auto: { type: "auto" },
  required: { type: "required" },
  none: { type: "none" },
};

/** @throws McpError -32602 with the member that is wrong */
export function readRequest(params: JsonObject): Wanted {
  const { messages, maxTokens, temperature, systemPrompt, stopSequences, tools, toolChoice } = params;
  if (!Array.isArray(messages) || messages.length === 0) throw wrong("params.messages", "a list of messages");
  if (!Number.isSafeInteger(maxTokens) || Number(maxTokens) < 1)
    throw wrong("params.maxTokens", "a number from 1 on");
  if (temperature !== undefined && typeof temperature !== "number")
    throw wrong("params.temperature", "a number");
  const turns = messages.map(readTurn);
  assertAnswered(turns);
  return {
    ...{ turns, maxTokens: Number(maxTokens), stop: listOf(stopSequences, "params.stopSequences", text) },
    ...(temperature !== undefined && { temperature }),
    ...(systemPrompt !== undefined && { system: text(systemPrompt, "params.systemPrompt") }),
    tools: listOf(tools, "params.tools", readTool),
    ...(toolChoice !== undefined && { toolChoice: readChoice(toolChoice) }),
  };
}

function readTurn(message: Json, at: number): Turn {
  const path = `params.messages[${at}]`;
  if (!isObject(message)) throw wrong(path, "an object");
  const { role, content } = message;
  if (role !== "user" && role !== "assistant") throw wrong(`${path}.role`, "user or assistant");
  const blocks = Array.isArray(content)
    ? content.map((part, index) => readBlock(part, `${path}.content[${index}]`))
    : [readBlock(content, `${path}.content`)];
  if (blocks.length === 0) throw wrong(`${path}.content`, "a list that is not empty");
  return { role, blocks, path };
}

function readBlock(part: Json | undefined, path: string): Block {
  if (!isObject(part)) throw wrong(path, "an object");
  const { type, data, mimeType } = part;
  switch (type) {
    case "text":
      return { type, text: text(part["text"], `${path}.text`), path };
    case "image": {
      const mediaType = media(mimeType, type, path);
      return { type, source: { type: "base64", mediaType, data: text(data, `${path}.data`) }, path };
    }
    case "audio": {
      const format = formatOf(media(mimeType, type, path));
      return { type, format, data: text(data, `${path}.data`), path };
    }
    case "tool_use": {
      const [id, name] = [text(part["id"], `${path}.id`), text(part["name"], `${path}.name`)];
      const input = JSON.stringify(isObject(part["input"]) ? part["input"] : {});
      return { type: "tool-call", id, name, input, kind: "function", path };
    }
    case "tool_result": {
      const id = text(part["toolUseId"], `${path}.toolUseId`);
      const { blocks, isError } = readResult(part, path);
      return { type: "tool-result", id, blocks, ...(isError && { error: true }), path };
    }
    default:
      throw wrong(`${path}.type`, "text, image, audio, tool_use or tool_result");
  }
}

/** Each result answers a call of the turn before, and is alone in its turn with others: the specification wants it so. */
function assertAnswered(turns: readonly Turn[]): void {
  let open: string[] = [];
  turns.forEach(({ blocks }, at) => {
    const results = blocks.flatMap((block) => (block.type === "tool-result" ? [block.id] : []));
    const path = `params.messages[${at}]`;
    if (results.length > 0 && results.length < blocks.length)
      throw wrong(path, "results of tools alone, or no result");
    if (open.length !== results.length || open.some((id) => !results.includes(id)))
      throw wrong(path, "one result for each call of a tool in the message before");
    open = blocks.flatMap((block) => (block.type === "tool-call" ? [block.id] : []));
  });
}

function readTool(tool: Json, path: string): Tool {
  if (!isObject(tool)) throw wrong(path, "an object");
  const { description, inputSchema } = tool;
  return {
    ...{ kind: "function", name: text(tool["name"], `${path}.name`) },
    ...(description !== undefined && { description: text(description, `${path}.description`) }),
    parameters: isObject(inputSchema) ? inputSchema : { type: "object" },
  };
}

function readChoice(choice: Json): ToolChoice {
  const mode = isObject(choice) ? (choice["mode"] ?? "auto") : undefined;
  const read = typeof mode === "string" && Object.hasOwn(CHOICES, mode) ? CHOICES[mode] : undefined;
  if (!read) throw wrong("params.toolChoice.mode", "auto, required or none");
  return read;
}

function listOf<Value>(
  given: Json | undefined,
  path: string,
  read: (one: Json, path: string) => Value,
): Value[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw wrong(path, "a list");
  return given.map((one, at) => read(one, `${path}[${at}]`));
}

function text(value: Json | undefined, path: string): string {
  if (typeof value !== "string") throw wrong(path, "a string");
  return value;
}

function media(value: Json | undefined, kind: string, path: string): string {
  const found = text(value, `${path}.mimeType`);
  if (!found.startsWith(`${kind}/`)) throw wrong(`${path}.mimeType`, `a type ${kind}/…`);
  return found;
}

/** As providers name formats of audio. */
function formatOf(mediaType: string): string {
  const format = mediaType.slice("audio/".length);
  return format === "mpeg" ? "mp3" : format.replace(/^x-/, "");
}

function wrong(path: string, wanted: string): McpError {
  return new McpError(CODE.params, `${path} of sampling/createMessage must be ${wanted}`);
}
