/**
 * Replays recorded requests of responses clients to upstreams of the other formats, and judges what reaches them. The
 * wishes beside the content are compared as chat-completions would write them.
 */
import { isObject, type Json, type JsonObject } from "../../src/core/json.ts";
import type { Recording } from "../helpers/recordings.ts";
import { json, startUpstream } from "../helpers/upstream.ts";
import { lostBetween } from "./lost.ts";
import { eachOf } from "./native.ts";
import { made, madeCall, piecesOf, place, type Piece, type Speaker } from "./pieces.ts";
import { noModels, plainAnswer } from "./plain-answer.ts";
import { startReplayed } from "./plant.ts";
import type { Api } from "./policy.ts";
import { requestFaults } from "./request-rules.ts";
import { changedBetween } from "./settings.ts";
import { readLosses, type RequestReplay } from "./translated.ts";
import { recordedProviders } from "./vendors.ts";

/** The models of each other format that a request goes to. */
const MODELS: Readonly<Record<Api, readonly string[]>> = {
  chat: ["openai/gpt-4.1", "openai/gpt-5.2"],
  messages: ["anthropic/claude-opus-4-6", "anthropic/claude-sonnet-4-5"],
};

/** This model may continue an answer that stands last. */
const CONTINUES = /sonnet-4-5 .* does not continue an answer/;

/** Replays the requests to every model of a format. */
export async function replayResponsesRequests(
  list: readonly Recording[],
  upstreamApi: Api,
): Promise<RequestReplay[]> {
  const reached = new Map<string, JsonObject>();
  const upstream = startUpstream((request) => {
    if (request.method === "GET") return noModels();
    const body = JSON.parse(request.body.toString("utf8")) as JsonObject;
    reached.set(/x\d+$/.exec(String(body["model"]))?.[0] ?? "", body);
    return plainAnswer(upstreamApi, body["stream"] === true);
  });
  const gateway = await startReplayed({
    target: "source",
    config: {
      providers: recordedProviders(upstream.url),
      log: { level: "error", format: "json" },
      retries: { attempts: 1 },
    },
  });
  let serial = 0;

  const replay = async (recording: Recording, model: string): Promise<RequestReplay> => {
    const mark = `x${serial++}`;
    const sent = { ...(recording.request!.body as JsonObject), model: `${model}-${mark}` };
    const response = await fetch(`${gateway.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", connection: "close" },
      body: JSON.stringify(sent),
    });
    const text = await response.text();
    const body = reached.get(mark);
    if (response.status === 400 && !body) return refusal(recording, sent, text);
    if (response.status !== 200 || !body)
      return { recording, faults: [`(${model}) status ${response.status}: ${text.slice(0, 300)}`] };
    const losses = readLosses(response.headers.get("x-weir-warnings") ?? "");
    const faults = [
      ...requestFaults[upstreamApi](body, model).filter((fault) => !CONTINUES.test(`${model} ${fault}`)),
      ...lostBetween(piecesOfResponses(sent), piecesOf[upstreamApi](body), responsesWishes(sent), losses),
      ...changedBetween("chat", upstreamApi, responsesWishes(sent), body, losses.map(chatPath)),
      ...untold(sent, losses),
    ];
    return { recording, faults: faults.map((fault) => `(${model}) ${fault}`) };
  };

  try {
    return await eachOf(
      list.filter((recording) => isObject(recording.request?.body)),
      async (recording) => {
        const replays: RequestReplay[] = [];
        for (const model of MODELS[upstreamApi]) replays.push(await replay(recording, model));
        const refused = replays.find((each) => each.refused !== undefined)?.refused;
        const faults = replays.flatMap((each) => each.faults);
        return { recording, faults, ...(refused !== undefined && { refused }) };
      },
    );
  } finally {
    await gateway.stop();
    upstream.stop();
  }
}

/** A line with the sums, one for each reason of a refusal, and one for each fault. */
export function describeResponsesRequests(upstreamApi: Api, replays: readonly RequestReplay[]): string[] {
  const reasons = Map.groupBy(
    replays.filter(({ refused }) => refused !== undefined),
    ({ refused }) => refused,
  );
  const refused = [...reasons.values()].reduce((sum, { length }) => sum + length, 0);
  const failed = replays.filter(({ faults }) => faults.length > 0).length;
  const carried = replays.length - refused - failed;
  return [
    `Translated requests, responses client, ${upstreamApi} upstream: ${replays.length} requests, ${carried} carried, ${refused} refused, ${failed} failed`,
    ...[...reasons].map(([reason, { length }]) => `  ${length}  refused with 400: ${reason}`),
    ...replays.flatMap(({ recording, faults }) =>
      faults.map((fault) => `${recording.vendor} responses ${recording.id} request: ${fault}`),
    ),
  ];
}

interface Refusal {
  /** Over the field that the answer names. */
  field: RegExp;
  reason: string;
  cannot(body: JsonObject): boolean;
}

const HOSTED = /^(web_search|file_search|mcp|code_interpreter|image_generation|computer)/;
const OFFICE = /openxmlformats|"UEsDB/;

/** What may be refused with 400 instead of translated. */
const REFUSALS: readonly Refusal[] = [
  {
    field: /^previous_response_id$/,
    reason: "an answer that weir did not store",
    cannot: has("previous_response_id"),
  },
  { field: /^conversation$/, reason: "a conversation at the vendor", cannot: has("conversation") },
  { field: /^background$/, reason: "an answer in the background", cannot: has("background") },
  { field: /^(prompt|model)$/, reason: "a prompt stored at the vendor", cannot: has("prompt") },
  { field: /^moderation$/, reason: "moderation by the vendor", cannot: has("moderation") },
  {
    field: /^(tools|tool_choice)/,
    reason: "only tools that the vendor runs itself",
    cannot: ({ tools }) =>
      list(tools).length > 0 && list(tools).every(({ type }) => HOSTED.test(String(type))),
  },
  {
    field: /^input\[\d+\]/,
    reason: "a compaction that only the vendor can read",
    cannot: ({ input }) => JSON.stringify(input).includes('"compaction"'),
  },
  {
    field: /^input\[\d+\]/,
    reason: "a file that lies at the vendor",
    cannot: ({ input }) => JSON.stringify(input).includes('"file_id"'),
  },
  {
    field: /^input\[\d+\]/,
    reason: "a document of a type the other format does not take",
    cannot: ({ input }) => OFFICE.test(JSON.stringify(input)),
  },
  {
    field: /^input\[\d+\]/,
    reason: "a document by its address, which the provider does not take",
    cannot: ({ input }) => JSON.stringify(input).includes('"file_url"'),
  },
  {
    field: /^input$/,
    reason: "no input",
    cannot: ({ input }) =>
      input === undefined || input === null || (Array.isArray(input) && input.length === 0),
  },
];

function has(name: string): Refusal["cannot"] {
  return (body) => body[name] !== undefined && body[name] !== null && body[name] !== false;
}

/** Why a request whose refusal names this field may be refused; `undefined`: it may not. */
export function responsesRefusal(field: string, body: JsonObject): string | undefined {
  return REFUSALS.find((each) => each.field.test(field) && each.cannot(body))?.reason;
}

function refusal(recording: Recording, sent: JsonObject, text: string): RequestReplay {
  const { error } = JSON.parse(text) as { error: { message: string; param?: string | null } };
  const reason = responsesRefusal(error.param ?? "", sent);
  if (reason !== undefined) return { recording, refused: reason, faults: [] };
  return {
    recording,
    faults: [`refused without a reason that is allowed: ${error.param}: ${error.message}`],
  };
}

/** Members that hold content or a wish that is compared. */
const JUDGED = `model input instructions tools tool_choice max_output_tokens temperature top_p stream text
  parallel_tool_calls reasoning user safety_identifier service_tier`;

/** Members that are left out in silence: hints for caches, what the client writes for the vendor's own records. */
const SILENT =
  "store include prompt_cache_key prompt_cache_retention client_metadata stream_options max_tool_calls";

function untold(sent: JsonObject, losses: readonly string[]): string[] {
  const known = new Set(`${JUDGED} ${SILENT}`.split(/\s+/));
  return Object.entries(sent)
    .filter(([name, value]) => !known.has(name) && value !== null && value !== false)
    .filter(([name]) => !losses.some((path) => path === name || path.startsWith(`${name}.`)))
    .map(([name]) => `${name} is gone without a word`);
}

/** The wishes as chat-completions writes them. */
export function responsesWishes(body: JsonObject): JsonObject {
  const {
    max_output_tokens: limit,
    temperature,
    top_p,
    stream,
    tools,
    tool_choice: choice,
    text,
    reasoning,
  } = body;
  const format = object(object(text)["format"]);
  const { type, name } = object(choice);
  const isNamed = type === "function" || type === "custom";
  const callable = list(tools).filter((tool) => tool["type"] === "function" || tool["type"] === "custom");
  const { parallel_tool_calls: parallel, safety_identifier: identifier, user } = body;
  const wishes = {
    ...{ max_completion_tokens: limit, temperature, top_p, stream },
    ...(callable.length > 0 && { tools: callable, parallel_tool_calls: parallel }),
    tool_choice: isNamed ? { type, function: { name } } : typeof choice === "string" ? choice : undefined,
    response_format:
      format["type"] === "json_schema"
        ? { type: "json_schema", json_schema: { schema: format["schema"] } }
        : undefined,
    reasoning_effort: object(reasoning)["effort"],
    user: identifier ?? user,
    model: body["model"],
  };
  return Object.fromEntries(
    Object.entries(wishes).filter(([, value]) => value !== undefined && value !== null),
  ) as JsonObject;
}

/** The path of a loss as chat-completions would name it. */
function chatPath(path: string): string {
  if (path.startsWith("text.format")) return "response_format";
  return path.startsWith("max_output_tokens") ? "max_tokens" : path;
}

/** The pieces of a request; paths are those that losses are reported under. */
export function piecesOfResponses(body: JsonObject): Piece[] {
  const { input, instructions } = body;
  const items = typeof input === "string" ? [] : list(input);
  return [
    ...textOf(instructions, "instructions", "system"),
    ...(typeof input === "string" ? textOf(input, "input", "user") : []),
    ...items.flatMap((item, index) => itemPieces(item, `input[${index}]`)),
    ...[...list(body["tools"]), ...items.filter(isListOfTools).flatMap((item) => list(item["tools"]))]
      .filter(isAllowed(body))
      .flatMap((tool, index) => toolPieces(tool, `tools[${index}]`, "")),
  ];
}

/** Where a provider cannot limit the choice to some of the tools, weir offers only those. */
function isAllowed({ tool_choice: choice }: JsonObject): (tool: JsonObject) => boolean {
  if (object(choice)["type"] !== "allowed_tools") return () => true;
  const names = new Set(list(object(choice)["tools"]).map(({ name }) => name));
  return ({ name }) => names.has(name);
}

const isListOfTools = ({ type }: JsonObject) => type === "additional_tools" || type === "tool_search_output";

function itemPieces(item: JsonObject, path: string): Piece[] {
  const { type = "message", role, call_id: id } = item;
  if (type === "message") {
    const by: Speaker =
      role === "developer" || role === "system" ? "system" : role === "assistant" ? "assistant" : "user";
    return partsOf(item["content"], `${path}.content`, by);
  }
  const prefix = item["namespace"] === undefined ? "" : `${String(item["namespace"])}__`;
  const name = prefix + String(item["name"]);
  if (type === "function_call") return [madeCall(name, parsed(item["arguments"]), id, path)];
  if (type === "tool_search_call" && item["execution"] === "client")
    return [madeCall("tool_search", item["arguments"], id, path)];
  if (type === "tool_search_output" && item["execution"] === "client") {
    const found = `Found tools: ${list(item["tools"])
      .map((tool) => String(tool["name"]))
      .join(", ")}`;
    return [made("result", path, "tool", "", { id: String(id), inside: textOf(found, path, "tool") })];
  }
  if (type === "custom_tool_call") return [madeCall(name, { input: item["input"] }, id, path)];
  if (type !== "function_call_output" && type !== "custom_tool_call_output") return [];
  const inside = partsOf(item["output"], `${path}.output`, "tool");
  return [made("result", `${path}.output`, "tool", "", { id: String(id), inside })];
}

function partsOf(value: Json | undefined, path: string, by: Speaker): Piece[] {
  if (typeof value === "string") return textOf(value, path, by);
  return list(value).flatMap((part, index) => {
    const at = `${path}[${index}]`;
    switch (part["type"]) {
      case "input_image":
        return [made("image", at, by, place(String(part["image_url"])))];
      case "input_file": {
        const text = /^data:text\/[^,]*;base64,(.*)$/s.exec(String(part["file_data"]))?.[1];
        // The name of the file may stand above its text.
        const inside = textOf(part["filename"], at, by);
        if (text !== undefined)
          return [made("text", at, by, Buffer.from(text, "base64").toString("utf8"), { inside })];
        return [made("document", at, by, place(String(part["file_data"] ?? part["file_url"])))];
      }
      default:
        return textOf(part["text"] ?? part["refusal"], at, by);
    }
  });
}

function textOf(value: Json | undefined, path: string, by: Speaker): Piece[] {
  return typeof value === "string" && value.trim() !== "" ? [made("text", path, by, value)] : [];
}

function toolPieces(tool: JsonObject, path: string, prefix: string): Piece[] {
  if (tool["type"] === "namespace")
    return list(tool["tools"]).flatMap((inner, index) =>
      toolPieces(inner, `${path}.tools[${index}]`, `${String(tool["name"])}__`),
    );
  if (tool["type"] !== "function") return [];
  const description = typeof tool["description"] === "string" ? tool["description"] : "";
  return [
    made("tool", path, "system", prefix + String(tool["name"]), {
      ...{ description, schema: tool["parameters"], strict: tool["strict"] === true },
    }),
  ];
}

function parsed(text: Json | undefined): unknown {
  try {
    return JSON.parse(String(text)) as unknown;
  } catch {
    return text;
  }
}

const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
