/** Decodes the input of an interaction: a text, contents, or the steps of earlier interactions. */
import type { Block, Turn } from "../../../core/chat.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { list, text } from "../../shared/read.ts";
import { fault, missing } from "../../shared/request-fault.ts";
import { decodeMedia } from "../client/content.ts";
import { decodeSignature } from "../reasoning.ts";
import { INTERACTIONS } from "./own-fields.ts";

/** `input` as steps, as weir stores them. */
export function stepsOf(input: Json | undefined): JsonObject[] {
  if (typeof input === "string") return [userInput([{ type: "text", text: input }])];
  const entries = Array.isArray(input) ? input : input === undefined ? [] : [input];
  const steps: JsonObject[] = [];
  for (const [index, entry] of entries.entries()) {
    if (!isObject(entry)) throw fault(`input[${index}]`, "a content or a step");
    const isContent = entry.type === undefined ? entry.role === undefined : CONTENTS.has(String(entry.type));
    const last = steps.at(-1);
    if (!isContent) steps.push(entry);
    // Contents one behind the other are one message.
    else if (last && gathered.has(last)) (last.content as Json[]).push(entry);
    else {
      const step = userInput([entry]);
      gathered.add(step);
      steps.push(step);
    }
  }
  return steps;
}

const CONTENTS = new Set(["text", "image", "audio", "document", "video"]);
/** Steps that weir has made of contents. */
const gathered = new WeakSet<JsonObject>();

function userInput(content: Json[]): JsonObject {
  return { type: "user_input", content };
}

/** @throws GatewayError `invalid-request` for a step without what it is made of */
export function decodeSteps(steps: readonly JsonObject[], path: string): Turn[] {
  const turns: Turn[] = [];
  const add = (role: Turn["role"], blocks: Block[], at: string) => {
    const last = turns.at(-1);
    if (last?.role === role && role === "assistant") last.blocks.push(...blocks);
    else turns.push({ role, blocks, path: at });
  };
  for (const [index, step] of steps.entries()) {
    const at = `${path}[${index}]`;
    add(roleOf(step), decodeStep(step, at), at);
  }
  return turns;
}

function roleOf({ type, role }: JsonObject): Turn["role"] {
  if (type === undefined) return role === "model" ? "assistant" : "user";
  return type === "user_input" || String(type).endsWith("_result") ? "user" : "assistant";
}

function decodeStep(step: JsonObject, path: string): Block[] {
  switch (step.type) {
    case undefined:
    case "user_input":
    case "model_output":
      return decodeContents(step.content, `${path}.content`);
    case "thought":
      return decodeThought(step, path);
    case "function_call":
      return [decodeCall(step, path)];
    case "function_result":
      return [decodeResult(step, path)];
    default:
      // A tool that Google ran.
      return [{ type: "foreign", format: INTERACTIONS, value: step, path }];
  }
}

function decodeContents(content: Json | undefined, path: string): Block[] {
  if (typeof content === "string") return [{ type: "text", text: content, path }];
  const entries = isObject(content) ? [content] : list(content);
  return entries.map((entry, index) => decodeContent(entry, `${path}[${index}]`));
}

function decodeContent(content: Json, path: string): Block {
  if (!isObject(content)) throw fault(path, "a content");
  const { type, uri, data, mime_type: mimeType } = content;
  if (type === undefined || type === "text") {
    if (typeof content.text !== "string") throw missing(`${path}.text`);
    return { type: "text", text: content.text, path };
  }
  const media = { ...(mimeType !== undefined && { mimeType }) };
  if (typeof data === "string") return decodeMedia({ inlineData: { ...media, data } }, path);
  if (typeof uri === "string") return decodeMedia({ fileData: { ...media, fileUri: uri } }, path);
  throw fault(path, "a content with `text`, `data` or `uri`");
}

function decodeThought({ signature, summary }: JsonObject, path: string): Block[] {
  const said = list(summary).flatMap((one) =>
    isObject(one) && typeof one.text === "string" ? [one.text] : [],
  );
  const thought = said.join("\n\n");
  if (typeof signature === "string" && signature !== "")
    return [{ ...decodeSignature(thought, signature), path }];
  return thought === "" ? [] : [{ type: "reasoning", text: thought, path }];
}

function decodeCall({ id, name, arguments: input }: JsonObject, path: string): Block {
  if (typeof name !== "string" || name === "") throw missing(`${path}.name`);
  if (typeof id !== "string" || id === "") throw missing(`${path}.id`);
  return {
    ...{ type: "tool-call", id, name, input: JSON.stringify(input ?? {}), kind: "function" },
    ...{ inputPath: `${path}.arguments`, path },
  };
}

function decodeResult({ call_id: id, name, result, is_error: error }: JsonObject, path: string): Block {
  if (typeof id !== "string" || id === "") throw missing(`${path}.call_id`);
  const isContents =
    Array.isArray(result) && result.every((one) => isObject(one) && CONTENTS.has(String(one.type)));
  const blocks: Block[] =
    typeof result === "string" || isContents
      ? decodeContents(result, `${path}.result`)
      : [{ type: "text", text: JSON.stringify(result ?? null), path: `${path}.result` }];
  return {
    ...{ type: "tool-result", id, blocks, path },
    ...(text(name) !== undefined && { name: text(name)! }),
    ...(error === true && { error }),
  };
}
