/** Decodes requests: conversations (`POST /api/chat`) and single prompts (`POST /api/generate`), which are one turn of the user. */
import type { AnswerFormat, ChatRequest, FieldPaths, Tool, Turn } from "../../../core/chat.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { list, number, text } from "../../shared/read.ts";
import { FORMAT, GENERATE, OWN_FIELDS } from "../own-fields.ts";
import { decodeThink } from "../reasoning.ts";
import { decodeContent } from "./content.ts";
import { decodeTurns } from "./messages.ts";
import { decodeTools } from "./tools.ts";

const PATHS: FieldPaths = {
  maxTokens: "options.num_predict",
  temperature: "options.temperature",
  topP: "options.top_p",
  topK: "options.top_k",
  stop: "options.stop",
  reasoning: "think",
  effort: "think",
  answerFormat: "format",
};

/** @param body has passed `checkRequest` @throws GatewayError `invalid-request` for images that are none */
export function decodeRequest(body: JsonObject): ChatRequest {
  const turns = decodeTurns(body.messages);
  return canonical(body, FORMAT, "messages", turns, decodeTools(body.tools));
}

/** @param body has passed `checkGenerateRequest` @throws GatewayError `invalid-request` for images that are none */
export function decodeGenerateRequest(body: JsonObject): ChatRequest {
  const system = text(body.system) ?? "";
  const prompt: Turn = { role: "user", blocks: decodeContent(body, "prompt", ""), path: "prompt" };
  const turns: Turn[] =
    system === ""
      ? [prompt]
      : [
          { role: "system", blocks: [{ type: "text", text: system, path: "system" }], path: "system" },
          prompt,
        ];
  const request = canonical(body, GENERATE, "prompt", turns, []);
  const suffix = text(body.suffix) ?? "";
  return suffix === "" ? request : { ...request, completion: { prompt: text(body.prompt) ?? "", suffix } };
}

/** Whether a request has a conversation; one without asks only that the model be loaded. */
export function hasMessages({ messages }: JsonObject): boolean {
  return list(messages).length > 0;
}

/** The same for a prompt. Ollama takes images without a prompt for no content either. */
export function hasPrompt({ prompt }: JsonObject): boolean {
  return typeof prompt === "string" && prompt !== "";
}

function canonical(
  body: JsonObject,
  format: string,
  turnsPath: string,
  turns: Turn[],
  tools: Tool[],
): ChatRequest {
  const options = isObject(body.options) ? body.options : {};
  const reasoning = decodeThink(body.think);
  const answerFormat = decodeAnswerFormat(body.format);
  return {
    model: String(body.model),
    turns,
    tools,
    maxTokens: positive(options.num_predict),
    temperature: number(options.temperature),
    topP: number(options.top_p),
    topK: positive(options.top_k),
    stop: decodeStop(options.stop),
    stream: body.stream !== false,
    ...(reasoning && { reasoning }),
    ...(answerFormat && { answerFormat }),
    style: body.think === false ? { hideReasoning: true } : {},
    extra: { [format]: decodeExtra(body, options) },
    ownFields: { [format]: OWN_FIELDS },
    paths: { ...PATHS, turns: turnsPath },
  };
}

/** Ollama means "no limit" by 0 and by negative numbers. */
function positive(value: Json | undefined): number | undefined {
  const given = number(value);
  return given !== undefined && given > 0 ? given : undefined;
}

function decodeStop(stop: Json | undefined): string[] {
  const given = typeof stop === "string" ? [stop] : list(stop);
  return given.filter((sequence) => typeof sequence === "string" && sequence !== "") as string[];
}

function decodeAnswerFormat(format: Json | undefined): AnswerFormat | undefined {
  if (isObject(format)) return { type: "json-schema", schema: format };
  return format === "json" ? { type: "json" } : undefined;
}

/** Members that {@link canonical} reads. */
const CANONICAL: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "prompt",
  "system",
  "images",
  "tools",
  "stream",
  "format",
  "think",
  "options",
]);

const CANONICAL_OPTIONS: ReadonlySet<string> = new Set([
  "num_predict",
  "temperature",
  "top_p",
  "top_k",
  "stop",
]);

/** Fields without a canonical equivalent. */
function decodeExtra(body: JsonObject, options: JsonObject): JsonObject {
  const extra = without(body, CANONICAL);
  const rest = without(options, CANONICAL_OPTIONS);
  if (Object.keys(rest).length > 0) extra.options = rest;
  if (body.format != null && !decodeAnswerFormat(body.format)) extra.format = body.format;
  return extra;
}

/** `Object.fromEntries`, because assignment would not store a member named `__proto__`. */
function without(object: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) => !names.has(name) && value != null),
  );
}
