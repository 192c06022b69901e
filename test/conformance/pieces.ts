/**
 * What a request says, piece by piece, each with its JSON path: texts, names, calls, images, documents. Two requests say
 * the same when the pieces of one are found in the other; the paths are those that losses are reported under.
 */
import type { Api } from "./policy.ts";

export interface Piece {
  kind: "text" | "tool" | "call" | "image" | "document";
  path: string;
  /** The text; the tool's name; name and arguments of a call; empty for bytes. */
  value: string;
}

type Value = Record<string, unknown>;

export const piecesOf: Record<Api, (body: Value) => Piece[]> = {
  chat: (body) => [
    ...listOf(body["messages"]).flatMap((message, index) => chatMessage(message, `messages[${index}]`)),
    ...listOf(body["tools"]).flatMap((tool, index) =>
      declared(objectOf(tool["function"] ?? tool["custom"]), `tools[${index}]`),
    ),
    ...listOf(body["functions"]).flatMap((tool, index) => declared(tool, `functions[${index}]`)),
  ],
  messages: (body) => [
    ...content(body["system"], "system").filter((piece) => !piece.value.startsWith("x-anthropic-billing")),
    ...listOf(body["messages"]).flatMap((turn, index) =>
      content(turn["content"], `messages[${index}].content`),
    ),
    ...listOf(body["tools"]).flatMap((tool, index) => declared(tool, `tools[${index}]`)),
  ],
};

/** Pieces of the client's request that neither reach the upstream nor stand in a loss. */
export function lostPieces(api: Api, sent: Value, reached: Value, losses: readonly string[]): string[] {
  const other = piecesOf[api === "chat" ? "messages" : "chat"](reached);
  const texts = squeeze(stringsOf(reached).join("\n"));
  const lost = piecesOf[api](sent).filter((piece) => !isFound(piece, other, texts));
  return lost
    .filter((piece) => !losses.some((path) => covers(path, piece.path)))
    .map(({ kind, path, value }) => `${kind} lost: ${path} ${JSON.stringify(value.slice(0, 80))}`);
}

function isFound(piece: Piece, other: Piece[], texts: string): boolean {
  if (piece.kind === "text") return texts.includes(squeeze(piece.value));
  // Each piece of the other side stands for one of this side.
  const at = other.findIndex(({ kind, value }) => kind === piece.kind && sameName(value, piece.value));
  if (at !== -1) other.splice(at, 1);
  return (
    at !== -1 || (piece.kind === "document" && piece.value !== "" && texts.includes(squeeze(piece.value)))
  );
}

/** Names that are illegal over there are renamed (E.8): the legal head has to be the same. */
function sameName(other: string, own: string): boolean {
  const legal = own.replace(/^[^ ]+/, (name) => name.replace(/[^a-zA-Z0-9_-]/g, "_"));
  return other === legal || (own.length > 64 && other.startsWith(legal.slice(0, 40)));
}

/** A loss at a path excuses what lies under it, and what it lies in; one of a whole message would excuse too much. */
function covers(loss: string, path: string): boolean {
  if (/^messages\[\d+\]$/.test(loss)) return false;
  const under = (inner: string, outer: string) => inner === outer || /^[.[]/.test(inner.slice(outer.length));
  return (path.startsWith(loss) && under(path, loss)) || (loss.startsWith(path) && under(loss, path));
}

function chatMessage(message: Value, path: string): Piece[] {
  const calls = listOf(message["tool_calls"]).map((call, index) => {
    const custom = call["custom"] as Value | undefined;
    const named = objectOf(custom ?? call["function"]);
    const input = custom ? { input: custom["input"] } : parse(named["arguments"]);
    return madeCall(named["name"], input, `${path}.tool_calls[${index}]`);
  });
  const legacy = objectOf(message["function_call"]);
  if (legacy["name"])
    calls.push(madeCall(legacy["name"], parse(legacy["arguments"]), `${path}.function_call`));
  return [
    ...content(message["content"], `${path}.content`),
    ...content(message["refusal"], `${path}.refusal`),
    ...calls,
  ];
}

/** A string or a list of parts or blocks of either format. Reasoning has rules of its own (E.7) and is no piece. */
function content(value: unknown, path: string): Piece[] {
  if (typeof value === "string") return value.trim() === "" ? [] : [{ kind: "text", path, value }];
  return listOf(value).flatMap((part, index) => {
    const read = PARTS[String(part["type"])];
    return read ? read(part, `${path}[${index}]`) : [];
  });
}

const PARTS: Record<string, (part: Value, path: string) => Piece[]> = {
  text: (part, path) => content(part["text"], path),
  refusal: (part, path) => content(part["refusal"], path),
  image: (_, path) => [{ kind: "image", path, value: "" }],
  image_url: (_, path) => [{ kind: "image", path, value: "" }],
  file: (_, path) => [{ kind: "document", path, value: "" }],
  input_audio: (_, path) => [{ kind: "document", path, value: "audio" }],
  document: (part, path) => {
    const source = objectOf(part["source"]);
    const text = source["type"] === "text" ? String(source["data"]) : "";
    return source["type"] === "content"
      ? content(source["content"], path)
      : [{ kind: "document", path, value: text }];
  },
  tool_use: (part, path) => [madeCall(part["name"], part["input"], path)],
  tool_result: (part, path) => content(part["content"], `${path}.content`),
};

function madeCall(name: unknown, input: unknown, path: string): Piece {
  return { kind: "call", path, value: `${String(name)} ${canonical(input ?? {})}` };
}

function declared(tool: Value, path: string): Piece[] {
  const name = tool["name"];
  if (typeof name !== "string") return [];
  const pieces: Piece[] = [{ kind: "tool", path, value: name }];
  return [...pieces, ...content(tool["description"], `${path}.description`)];
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

function stringsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(stringsOf);
}

/** Blanks are compared as one: texts are joined and trimmed on the way. */
function squeeze(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function listOf(value: unknown): Value[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "object" && each !== null) : [];
}

function objectOf(value: unknown): Value {
  return typeof value === "object" && value !== null ? (value as Value) : {};
}
