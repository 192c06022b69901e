/** A Gemini request piece by piece, and its wishes as chat-completions would write them. */
import { made, madeCall, place, type Piece, type Speaker } from "./pieces.ts";
import { listOf, objectOf, textOf, type Value } from "./said.ts";

/** The pieces of a request in either spelling; paths are those that losses are reported under. */
export function piecesOfGemini(body: Value): Piece[] {
  const calls = new OpenCalls();
  const { contents } = body;
  const turns = Array.isArray(contents)
    ? listOf(contents)
    : contents === undefined
      ? []
      : [objectOf(contents)];
  const system = body["systemInstruction"] ?? body["system_instruction"];
  const tools = body["tools"];
  return [
    ...partsOf(system, "systemInstruction", "system", calls),
    ...turns.flatMap((turn, index) =>
      partsOf(turn, `contents[${index}]`, turn["role"] === "model" ? "assistant" : "user", calls),
    ),
    ...(Array.isArray(tools) ? listOf(tools) : [objectOf(tools)]).flatMap((tool, index) =>
      listOf(either(tool, "functionDeclarations")).map((declaration, place) =>
        declared(declaration, `tools[${index}].functionDeclarations[${place}]`),
      ),
    ),
  ];
}

/** The calls of the last turn that has some, for results that name no call. */
class OpenCalls {
  #waiting: { id: string; name: string }[] = [];
  #made = 0;

  add(name: string, id: string): string {
    // Legal nowhere, so that no rule demands that it is kept.
    const known = id || `call ${this.#made++}`;
    this.#waiting.push({ id: known, name });
    return known;
  }

  take(name: string, id: string): string {
    const byId = this.#waiting.findIndex((call) => call.id === id);
    const byName = this.#waiting.findIndex((call) => call.name === name);
    const at = id !== "" && byId >= 0 ? byId : Math.max(0, byName);
    return this.#waiting.splice(at, 1)[0]?.id ?? id;
  }
}

function partsOf(content: unknown, path: string, by: Speaker, calls: OpenCalls): Piece[] {
  if (typeof content === "string") return said(content, path, by);
  const parts = objectOf(content)["parts"];
  const list = Array.isArray(parts) ? parts : parts === undefined ? [] : [parts];
  return list.flatMap((part: unknown, index) =>
    typeof part === "string"
      ? said(part, `${path}.parts[${index}]`, by)
      : pieceOf(objectOf(part), `${path}.parts[${index}]`, by, calls),
  );
}

function pieceOf(part: Value, path: string, by: Speaker, calls: OpenCalls): Piece[] {
  const call = either(part, "functionCall");
  if (call !== undefined) {
    const { name, args, id } = objectOf(call);
    return [madeCall(name, args ?? {}, calls.add(textOf(name), textOf(id)), path)];
  }
  const answer = either(part, "functionResponse");
  if (answer !== undefined) return [resultOf(objectOf(answer), path, calls)];
  if (part["thought"] === true) return [];
  const media = mediaOf(part, path, by);
  return media ? [media] : said(part["text"], path, by);
}

function resultOf(answer: Value, path: string, calls: OpenCalls): Piece {
  const { response, parts, name, id } = answer;
  const value = resultIn(objectOf(response));
  const inside = [
    ...said(typeof value === "string" ? value : JSON.stringify(value ?? {}), path, "tool"),
    ...listOf(parts).flatMap((part) => mediaOf(part, path, "tool") ?? []),
  ];
  const failed = (objectOf(response)["error"] ?? undefined) !== undefined;
  return made("result", path, "tool", "", { id: calls.take(textOf(name), textOf(id)), inside, failed });
}

/** A result that stands alone under a name for results, else the whole response. */
function resultIn(response: Value): unknown {
  const [first, ...others] = Object.entries(response).filter(([, value]) => value !== null);
  if (first === undefined) return "";
  const [name, value] = first;
  const isResult =
    name === "output" || name === "error" || (/^(result|content)$/.test(name) && typeof value === "string");
  return isResult && others.length === 0 ? value : response;
}

function mediaOf(part: Value, path: string, by: Speaker): Piece | undefined {
  const inline = either(part, "inlineData");
  const file = either(part, "fileData");
  if (inline === undefined && file === undefined) return undefined;
  const source = objectOf(inline ?? file);
  const type = textOf(either(source, "mimeType"));
  const isSound = type.startsWith("audio/") && inline !== undefined;
  const kind = type.startsWith("image/") ? "image" : isSound ? "audio" : "document";
  const where =
    inline === undefined
      ? place(textOf(either(source, "fileUri")))
      : place(`data:,${textOf(source["data"])}`);
  if (/^text\//.test(type) && inline !== undefined)
    return made("text", path, by, Buffer.from(textOf(source["data"]), "base64").toString("utf8"));
  return made(kind, path, by, where);
}

function declared(declaration: Value, path: string): Piece {
  const schema = either(declaration, "parametersJsonSchema") ?? declaration["parameters"];
  return made("tool", path, "system", textOf(declaration["name"]), {
    description: textOf(declaration["description"]),
    schema: plainSchema(schema),
    strict: false,
  });
}

function said(value: unknown, path: string, by: Speaker): Piece[] {
  return typeof value === "string" && value.trim() !== "" ? [made("text", path, by, value)] : [];
}

/** The wishes as chat-completions writes them. @param stream the address asks for a stream */
export function geminiWishes(body: Value, stream: boolean): Value {
  const config = objectOf(either(body, "generationConfig"));
  const calling = objectOf(either(objectOf(either(body, "toolConfig")), "functionCallingConfig"));
  const names = either(calling, "allowedFunctionNames");
  const tools = piecesOfGemini(body).filter(({ kind }) => kind === "tool");
  const schema = either(config, "responseJsonSchema") ?? either(config, "responseSchema");
  const mode = textOf(calling["mode"]).toUpperCase();
  const one =
    Array.isArray(names) && names.length === 1
      ? { type: "function", function: { name: String(names[0]) } }
      : undefined;
  const choice: Readonly<Record<string, unknown>> = { ANY: one ?? "required", NONE: "none", AUTO: "auto" };
  const wishes: Value = {
    max_tokens: either(config, "maxOutputTokens"),
    temperature: config["temperature"],
    top_p: either(config, "topP"),
    top_k: either(config, "topK"),
    stop: either(config, "stopSequences"),
    seed: config["seed"],
    presence_penalty: either(config, "presencePenalty"),
    frequency_penalty: either(config, "frequencyPenalty"),
    stream: stream || undefined,
    response_format: schema && { type: "json_schema", json_schema: { schema: plainSchema(schema) } },
    tool_choice: tools.length > 0 ? choice[mode] : undefined,
    tools:
      tools.length > 0
        ? tools.map(({ value }) => ({ type: "function", function: { name: value } }))
        : undefined,
  };
  return Object.fromEntries(Object.entries(wishes).filter(([, value]) => value !== undefined));
}

/** A member in either spelling. */
export function either(holder: Value, name: string): unknown {
  return holder[name] ?? holder[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
}

/** Members of a schema that hold schemas by name, one schema, or a list of them. */
const BY_NAME = ["properties", "$defs", "definitions"];
const NESTED = ["items", "additionalProperties", "not"];
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];

/** Words about a schema, or of Google's alone. */
const UNKNOWN = ["$schema", "$id", "$comment", "propertyOrdering"];

/** By the numbers of protocol buffers. */
const TYPES = ["unspecified", "string", "number", "integer", "boolean", "array", "object", "null"];

/**
 * A schema in the words of JSON Schema: lower-case types, null as a type, a constant as the only value.
 * @param isGoogles whether types may be in capitals or numbers
 */
export function plainSchema(schema: unknown, isGoogles = true): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  const { nullable, const: constant, ...all } = schema as Value;
  const rest = Object.fromEntries(Object.entries(all).filter(([name]) => !UNKNOWN.includes(name)));
  const plain: Value = { ...rest };
  const inner = (each: unknown) => plainSchema(each, isGoogles);
  const lower = (type: unknown) => {
    if (!isGoogles) return type;
    return typeof type === "number" ? TYPES[type] : String(type).toLowerCase();
  };
  if (rest["type"] !== undefined)
    plain["type"] = Array.isArray(rest["type"]) ? rest["type"].map(lower) : lower(rest["type"]);
  if (nullable === true && typeof plain["type"] === "string") plain["type"] = [plain["type"], "null"];
  if (nullable === true && Array.isArray(rest["enum"])) plain["enum"] = [...new Set([...rest["enum"], null])];
  if (constant !== undefined) plain["enum"] = [constant];
  for (const name of BY_NAME)
    if (rest[name] !== undefined)
      plain[name] = Object.fromEntries(
        Object.entries(objectOf(rest[name])).map(([key, member]) => [key, inner(member)]),
      );
  for (const name of NESTED) if (rest[name] !== undefined) plain[name] = inner(rest[name]);
  for (const name of LISTS) if (Array.isArray(rest[name])) plain[name] = rest[name].map(inner);
  return plain;
}
