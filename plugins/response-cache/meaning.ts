/** The meaning of a request: two requests of the same meaning have the same digest, in whatever format they came. */
import type { Block, CallView, ChatRequest, Json, JsonObject, Tool, Turn } from "weir";

/** Fields that change how an answer is delivered or booked, but not the answer. */
const WITHOUT_MEANING: ReadonlySet<string> = new Set([
  "metadata",
  "store",
  "stream_options",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "safety_identifier",
]);

/** Headers by which a client changes what the model does. */
const HEADERS = ["anthropic-beta", "openai-beta"];

/** @returns SHA-256 of who asks, the model and the request, base64 */
export function digestOf(call: CallView, request: ChatRequest): string {
  const headers = HEADERS.map((name) => call.headers.get(name));
  const text = JSON.stringify([call.caller, call.model, headers, meaningOf(request)]);
  return new Bun.CryptoHasher("sha256").update(text).digest("base64");
}

/** The members of a request that the answer depends on. JSON that the client wrote keeps its order, on which models depend. */
function meaningOf(request: ChatRequest): unknown {
  const { model, turns, tools, stream, user, session, cache, style, extra, ownFields, paths, ...options } =
    request;
  const ids = new Map<string, number>();
  return ordered({
    ...options,
    toolChoice: options.toolChoice && ordered(options.toolChoice),
    reasoning: options.reasoning && ordered(options.reasoning),
    answerFormat: options.answerFormat && ordered(options.answerFormat),
    turns: turns.map((turn) => turnOf(turn, ids)),
    tools: tools.map(toolOf),
    extra: Object.entries(extra).flatMap(([format, fields]) => fieldsOf(format, fields)),
  });
}

function turnOf({ path, blocks, ...rest }: Turn, ids: Map<string, number>): unknown {
  return ordered({ ...rest, blocks: blocks.map((block) => blockOf(block, ids)) });
}

function blockOf(block: Block, ids: Map<string, number>): unknown {
  const { path, cache, inputPath, detailPath, ...rest } = block as Block & {
    cache?: unknown;
    inputPath?: string;
    detailPath?: string;
  };
  const nested = (blocks: readonly Block[]) => blocks.map((each) => blockOf(each, ids));
  switch (rest.type) {
    case "tool-call":
      return ordered({ ...rest, id: numberOf(rest.id, ids) });
    case "tool-result":
      return ordered({ ...rest, id: numberOf(rest.id, ids), blocks: nested(rest.blocks) });
    case "image":
      return ordered({ ...rest, source: ordered(rest.source) });
    case "document": {
      const { source } = rest;
      const inner = source.type === "blocks" ? { ...source, blocks: nested(source.blocks) } : source;
      return ordered({ ...rest, source: ordered(inner) });
    }
    case "foreign":
      return ordered({ ...rest, instead: rest.instead && blockOf(rest.instead, ids) });
    default:
      return ordered(rest);
  }
}

/** The ids of tool calls are random. */
function numberOf(id: string, ids: Map<string, number>): number | string {
  if (id === "") return id;
  const number = ids.get(id) ?? ids.size;
  ids.set(id, number);
  return number;
}

function toolOf({ path, cache, memberPaths, ...rest }: Tool): unknown {
  return ordered({ ...rest, grammar: rest.grammar && ordered(rest.grammar) });
}

function fieldsOf(format: string, fields: JsonObject): [string, [string, Json][]][] {
  const kept = Object.entries(fields).filter(
    (field): field is [string, Json] => field[1] !== undefined && !WITHOUT_MEANING.has(field[0]),
  );
  return kept.length === 0 ? [] : [[format, kept.sort(byName)]];
}

/** The members of an object by name: formats write them in an order of their own. */
function ordered(object: object): [string, unknown][] {
  return Object.entries(object)
    .filter(([, value]) => value !== undefined)
    .sort(byName);
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}
