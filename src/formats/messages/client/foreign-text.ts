/**
 * Converts blocks that only this format knows to text, for providers of other formats: a search result that the model
 * used must not disappear from the history.
 */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

type Reader = (block: JsonObject) => string | undefined;

const READERS: ReadonlyMap<string, Reader> = new Map(
  Object.entries<Reader>({
    search_result: (block) => lines([block.title, block.source, readText(block.content)]),
    tool_reference: (block) => `[tool: ${readText(block.tool_name ?? block.name) ?? "unknown"}]`,
    browser_state: (block) =>
      `[browser state: ${JSON.stringify({ ...block, type: undefined, cache_control: undefined })}]`,
    server_tool_use: readCall,
    mcp_tool_use: readCall,
    web_search_tool_result: (block) => labelled("web search", block.content),
    web_fetch_tool_result: (block) => labelled("web fetch", block.content),
    code_execution_tool_result: (block) => labelled("code execution", block.content),
    bash_code_execution_tool_result: (block) => labelled("code execution", block.content),
    text_editor_code_execution_tool_result: (block) => labelled("code execution", block.content),
    tool_search_tool_result: (block) => labelled("tool search", block.content),
    mcp_tool_result: (block) => labelled("tool result", block.content),
    advisor_tool_result: (block) => labelled("advisor", block.content),
    compaction: (block) => readText(block.content),
  }),
);

/** Returns the text of a block; `undefined` for undocumented types. */
export function readForeignBlock(block: JsonObject): string | undefined {
  return READERS.get(String(block.type))?.(block);
}

function readCall(block: JsonObject): string {
  return `[${readText(block.name) ?? "tool"}: ${JSON.stringify(block.input ?? {})}]`;
}

function labelled(label: string, content: Json | undefined): string {
  if (isObject(content) && typeof content.error_code === "string")
    return `[${label} failed: ${content.error_code}]`;
  const items = Array.isArray(content) ? content : [content ?? ""];
  const texts = items.map(readItem).filter((text) => text !== undefined);
  return texts.length === 0 ? `[${label}]` : texts.map((text) => `[${label}: ${text}]`).join("\n");
}

/** Returns `title - url` of a search result, else the texts of the item. */
function readItem(item: Json): string | undefined {
  if (!isObject(item)) return readText(item);
  if (typeof item.url === "string" && typeof item.title === "string") return `${item.title} - ${item.url}`;
  return lines([
    item.url,
    item.stdout,
    item.stderr,
    readText(item.text),
    readText(item.tool_references),
    readText(item.content),
  ]);
}

/** Returns the text in a value: itself, its `text` or `data`, or the texts of its items. */
function readText(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return lines(value.map(readText));
  if (!isObject(value)) return undefined;
  if (isObject(value.source) && value.source.type === "text") return readText(value.source.data);
  return readText(value.text ?? value.tool_name ?? value.content);
}

function lines(parts: (Json | undefined)[]): string | undefined {
  const texts = parts.filter((part) => typeof part === "string" && part !== "");
  return texts.length === 0 ? undefined : texts.join("\n");
}
