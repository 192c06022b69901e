/**
 * What a request says, whichever format it is written in: the same lists for all, so that a request and its
 * translation can be laid side by side.
 */
import type { Json, JsonObject } from "../../src/core/json.ts";

export interface Said {
  /** Texts of system and developer messages, in order, the client's own accounting line left out. */
  system: string[];
  user: string[];
  assistant: string[];
  calls: { id: string; name: string; input: Json }[];
  results: { id: string; text: string[] }[];
  /** Images and documents, those inside tool results included, as base64. */
  images: string[];
  documents: string[];
  tools: { name: string; description: string; schema: Json }[];
}

/** The accounting line of Claude Code, which is for Anthropic only (check 44). */
export const BILLING = "x-anthropic-billing-header";

const nothing = (): Said => ({
  system: [],
  user: [],
  assistant: [],
  calls: [],
  results: [],
  images: [],
  documents: [],
  tools: [],
});

const list = (value: Json | undefined): JsonObject[] =>
  typeof value === "string"
    ? [{ type: "text", text: value }]
    : Array.isArray(value)
      ? (value as JsonObject[])
      : [];

const texts = (blocks: readonly JsonObject[]): string[] =>
  blocks.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));

const object = (value: Json | undefined): JsonObject => (value ?? {}) as JsonObject;

/** A body of the Messages format. */
export function saidInMessages(body: JsonObject): Said {
  const said = nothing();
  said.system = texts(list(body.system)).filter((text) => !text.startsWith(BILLING));
  for (const { role, content } of list(body.messages)) {
    const blocks = list(content);
    said[role as "system" | "user" | "assistant"].push(...texts(blocks));
    for (const block of blocks) {
      takeMedia(block, said);
      if (block.type === "tool_use")
        said.calls.push({ id: String(block.id), name: String(block.name), input: block.input! });
      if (block.type !== "tool_result") continue;
      const inside = list(block.content);
      said.results.push({ id: String(block.tool_use_id), text: texts(inside) });
      for (const one of inside) takeMedia(one, said);
    }
  }
  said.tools = list(body.tools).map(({ name, description, input_schema }) => ({
    name: String(name),
    description: String(description),
    schema: input_schema!,
  }));
  return said;
}

function takeMedia(block: JsonObject, said: Said): void {
  const data = object(block.source).data;
  if (block.type === "image") said.images.push(String(data));
  if (block.type === "document") said.documents.push(String(data));
}

/** A body of the chat-completions format. */
export function saidInChat(body: JsonObject): Said {
  const said = nothing();
  for (const message of list(body.messages)) {
    const parts = list(message.content);
    if (message.role === "tool") said.results.push({ id: String(message.tool_call_id), text: texts(parts) });
    else said[roleOf(message)].push(...texts(parts));
    for (const part of parts) takeParts(part, said);
    for (const { id, function: called } of list(message.tool_calls)) {
      const { name, arguments: written } = object(called);
      said.calls.push({ id: String(id), name: String(name), input: JSON.parse(String(written)) as Json });
    }
  }
  said.tools = list(body.tools).map((tool) => {
    const { name, description, parameters } = object(tool.function);
    // A tool without parameters takes none.
    const schema = parameters ?? { type: "object", properties: {} };
    return { name: String(name), description: String(description), schema };
  });
  return said;
}

const roleOf = ({ role }: JsonObject) =>
  role === "developer" ? "system" : (role as "system" | "user" | "assistant");

function takeParts(part: JsonObject, said: Said): void {
  const data = (url: Json | undefined) => String(url).replace(/^data:[^,]*,/, "");
  if (part.type === "image_url") said.images.push(data(object(part.image_url).url));
  if (part.type === "file") said.documents.push(data(object(part.file).file_data));
}

/** A body of the responses format; namespaced tools by the joined name, input of custom tools as the member `input`. */
export function saidInResponses(body: JsonObject): Said {
  const said = nothing();
  if (typeof body.instructions === "string" && body.instructions !== "") said.system.push(body.instructions);
  for (const item of list(typeof body.input === "string" ? [{ content: body.input }] : body.input))
    takeItem(item, said);
  const declared = list(body.tools).flatMap((tool) =>
    tool.type === "namespace"
      ? list(tool.tools).map((inner) => ({ ...inner, name: `${String(tool.name)}__${String(inner.name)}` }))
      : [tool],
  );
  said.tools = declared
    .filter(({ type }) => type === "function")
    .map(({ name, description, parameters }) => ({
      name: String(name),
      description: String(description ?? undefined),
      schema: parameters ?? { type: "object", properties: {} },
    }));
  return said;
}

function takeItem(item: JsonObject, said: Said): void {
  const { type, call_id: id, name, namespace } = item;
  const called = namespace === undefined ? String(name) : `${String(namespace)}__${String(name)}`;
  if (type === "function_call")
    said.calls.push({ id: String(id), name: called, input: JSON.parse(String(item.arguments)) as Json });
  if (type === "custom_tool_call")
    said.calls.push({ id: String(id), name: called, input: { input: item.input! } });
  if (String(type).endsWith("_call_output")) {
    const parts = itemParts(item.output);
    said.results.push({ id: String(id), text: textsOf(parts) });
    takeInputImages(parts, said);
  }
  if (type !== undefined && type !== "message") return;
  const parts = itemParts(item.content);
  said[roleOf({ role: item.role ?? "user" }) as "system" | "user" | "assistant"].push(...textsOf(parts));
  takeInputImages(parts, said);
}

const itemParts = (value: Json | undefined): JsonObject[] =>
  typeof value === "string" ? [{ text: value }] : list(value);

const textsOf = (parts: readonly JsonObject[]): string[] =>
  parts.flatMap(({ text }) => (typeof text === "string" && text !== "" ? [text] : []));

function takeInputImages(parts: readonly JsonObject[], said: Said): void {
  for (const { type, image_url: url } of parts)
    if (type === "input_image") said.images.push(String(url).replace(/^data:[^,]*,/, ""));
}

/** What is missing of `wanted`, or out of order, in these texts; empty when all is there. */
export function missing(wanted: readonly string[], found: readonly string[]): string[] {
  const whole = found.join("\n");
  let from = 0;
  return wanted.filter((text) => {
    const at = whole.indexOf(text, from);
    if (at < 0) return true;
    from = at + text.length;
    return false;
  });
}
