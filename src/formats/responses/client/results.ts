/** Decodes the results of tool calls. */
import type { Block } from "../../../core/chat.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { getOwn } from "../../../core/own.ts";
import { list, text } from "../../shared/read.ts";
import { decodeContent } from "./content.ts";

/** Returns the content of a result. @param path of the item */
type Decoder = (item: JsonObject, path: string) => Block[];

const content: Decoder = (item, path) => decodeContent(item.output, `${path}.output`);

const DECODERS: Readonly<Record<string, Decoder>> = {
  function_call_output: content,
  custom_tool_call_output: content,
  local_shell_call_output: content,
  apply_patch_call_output: content,
  shell_call_output: (item, path) => textBlocks(list(item.output).map(shellOutput).join("\n"), path),
  tool_search_output: (item, path) => textBlocks(`Found tools: ${toolNames(item.tools)}`, path),
};

/** The content of a result; `undefined` for items that are no results. */
export function decodeResult(item: JsonObject, path: string): Block[] | undefined {
  return getOwn(DECODERS, String(item.type))?.(item, path);
}

/** Whether an item is the result of a call that the client ran. */
export function isResult({ type, execution }: JsonObject): boolean {
  return getOwn(DECODERS, String(type)) !== undefined && execution !== "server";
}

function textBlocks(said: string, path: string): Block[] {
  return said === "" ? [] : [{ type: "text", text: said, path: `${path}.output` }];
}

function shellOutput(value: Json): string {
  if (!isObject(value)) return "";
  const outcome = isObject(value.outcome) ? value.outcome : {};
  const ended =
    outcome.type === "timeout"
      ? "The command reached its time limit."
      : `Exit code: ${String(outcome.exit_code)}`;
  return [text(value.stdout), text(value.stderr), ended].filter(Boolean).join("\n");
}

function toolNames(tools: Json | undefined): string {
  return list(tools)
    .flatMap((tool) => (isObject(tool) ? [String(tool.name ?? tool.type)] : []))
    .join(", ");
}
