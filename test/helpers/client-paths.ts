/** What client codecs record besides the content when they decode, for requests that a test builds by hand. */
import type { Block, ChatRequest, Tool, Turn } from "../../src/core/chat.ts";
import type { ClientCodec } from "../../src/core/format.ts";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { messagesFormat } from "../../src/formats/messages/index.ts";
import { makeContext } from "./codec-context.ts";

interface Grammar {
  client: ClientCodec;
  /** Gives turns and their blocks a path. */
  placeTurns(turns: readonly Turn[]): Turn[];
  placeTool(tool: Tool, index: number, request: ChatRequest): Tool;
}

const GRAMMARS: Record<string, Grammar> = {
  "chat-completions": { client: chatCompletionsFormat.client, placeTurns: chatTurns, placeTool: chatTool },
  messages: { client: messagesFormat.client, placeTurns: messagesTurns, placeTool: messagesTool },
};

/** The request as if a client of this format had sent it. A path that is already there stays. */
export function withPaths(request: ChatRequest, format: string): ChatRequest {
  const grammar = GRAMMARS[format];
  if (!grammar) return request;
  const body = { model: "m", max_tokens: 1, messages: [{ role: "user", content: "hi" }] };
  const { paths, ownFields } = grammar.client.codec.decodeRequest(body, makeContext());
  return {
    paths,
    ownFields,
    ...request,
    turns: grammar.placeTurns(request.turns),
    tools: request.tools.map((tool, index) => grammar.placeTool(tool, index, request)),
  };
}

function place(block: Block, path: string, input: string): Block {
  const placed: Block = { path, ...block };
  if (placed.type === "tool-call") placed.inputPath ??= `${path}.${input}`;
  const inner = (blocks: Block[], at: string) =>
    blocks.map((one, index) => place(one, `${at}[${index}]`, input));
  if (placed.type === "tool-result") return { ...placed, blocks: inner(placed.blocks, `${path}.content`) };
  if (placed.type !== "document" || placed.source.type !== "blocks") return placed;
  const source = { ...placed.source, blocks: inner(placed.source.blocks, `${path}.source.content`) };
  return { ...placed, source };
}

function messagesTurns(turns: readonly Turn[]): Turn[] {
  const first = turns[0]?.role === "system" ? 1 : 0;
  return turns.map((turn, index) => {
    const path = index < first ? "system" : `messages[${index - first}]`;
    const content = index < first ? path : `${path}.content`;
    const blocks = turn.blocks.map((block, at) => place(block, `${content}[${at}]`, "input"));
    return { path, ...turn, blocks };
  });
}

/** Each tool result is a message of its own; calls and content are separate lists; reasoning has no place of its own. */
function chatTurns(turns: readonly Turn[]): Turn[] {
  let next = 0;
  return turns.map((turn) => {
    const isResults = turn.blocks.length > 0 && turn.blocks.every(({ type }) => type === "tool-result");
    const first = next;
    next += isResults ? turn.blocks.length : 1;
    const path = `messages[${first}]`;
    const seen = { content: 0, tool_calls: 0 };
    const blocks = turn.blocks.map((block, at) => {
      if (isResults) return place(block, `messages[${first + at}]`, "");
      if (block.type === "reasoning") return block;
      const list = block.type === "tool-call" ? "tool_calls" : "content";
      return place(block, `${path}.${list}[${seen[list]++}]`, "function.arguments");
    });
    return { path, ...turn, blocks };
  });
}

function messagesTool(tool: Tool, index: number): Tool {
  const path = `tools[${index}]`;
  const memberPaths = { parameters: `${path}.input_schema`, strict: `${path}.strict` };
  return { path, memberPaths, ...tool };
}

function chatTool(tool: Tool, index: number, { style }: ChatRequest): Tool {
  const path = style.legacyFunctions ? `functions[${index}]` : `tools[${index}]`;
  const declaration = style.legacyFunctions
    ? path
    : `${path}.${tool.kind === "custom" ? "custom" : "function"}`;
  const memberPaths = {
    parameters: `${declaration}.parameters`,
    strict: `${declaration}.strict`,
    format: `${declaration}.format`,
  };
  return { path, memberPaths, ...tool };
}

const PATHS: ReadonlySet<string> = new Set(["path", "paths", "ownFields", "inputPath", "memberPaths"]);

/** A decoded value without its paths, at any depth of turns, blocks and tools. */
export function withoutPaths<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutPaths) as Value;
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value)
    .filter(([name]) => !PATHS.has(name))
    .map(([name, member]) => [name, KEPT.has(name) ? member : withoutPaths(member)]);
  return Object.fromEntries(kept) as Value;
}

/** Members with JSON of the client, whose names mean nothing here. */
const KEPT: ReadonlySet<string> = new Set(["value", "parameters", "schema", "extra"]);
