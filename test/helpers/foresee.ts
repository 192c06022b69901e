/** What weir would send for a request, and what it would report, without a gateway that runs. */
import { GatewayError } from "../../src/core/error.ts";
import type { ClientCodec, Format } from "../../src/core/format.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { Secret } from "../../src/core/secret.ts";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { converseFormat } from "../../src/formats/converse/index.ts";
import { interactionsFormat } from "../../src/formats/gemini/interactions/index.ts";
import { geminiFormat } from "../../src/formats/gemini/index.ts";
import { messagesFormat } from "../../src/formats/messages/index.ts";
import { ollamaFormat, ollamaGenerateFormat } from "../../src/formats/ollama/index.ts";
import { responsesFormat } from "../../src/formats/responses/index.ts";
import { explain } from "../../src/gateway/explain.ts";
import { ReasoningCache } from "../../src/gateway/reasoning/cache.ts";
import { Registry } from "../../src/gateway/routing/registry.ts";
import type { LoadedHooks } from "../../src/gateway/types.ts";
import { converse, definePlugin } from "../../src/plugin.ts";
import { scanBody } from "../../src/stream/scan.ts";
import anthropic from "../../plugins/anthropic.ts";
import gemini from "../../plugins/gemini.ts";
import groq from "../../plugins/groq.ts";
import mistral from "../../plugins/mistral.ts";
import openai from "../../plugins/openai.ts";

export type ClientFormat = Format & { client: ClientCodec };

/** By id. */
export const CLIENT_FORMATS: Readonly<Record<string, ClientFormat>> = Object.fromEntries(
  [
    chatCompletionsFormat,
    messagesFormat,
    responsesFormat,
    geminiFormat,
    ollamaFormat,
    ollamaGenerateFormat,
  ].map((format) => [format.id, format]),
);

/** Providers that no built-in plugin declares in this way: Bedrock without its credentials, OpenAI's models in one format only. */
const others = definePlugin({
  name: "others",
  providers: [
    converse({ name: "bedrock", baseUrl: "https://bedrock-runtime.us-east-1.amazonaws.com" }),
    { name: "answering", baseUrl: "https://answering.example/v1", speaks: { responses: "/responses" } },
    {
      name: "tiered",
      baseUrl: "https://tiered.example/v1",
      speaks: { "chat-completions": "/chat/completions" },
      traits: { serviceTiers: true },
    },
    {
      name: "chatting",
      baseUrl: "https://chatting.example/v1",
      speaks: { "chat-completions": "/chat/completions" },
    },
  ],
});

const registry = new Registry({
  plugins: [openai, anthropic, gemini, groq, mistral, others].map((plugin) => ({
    plugin,
    source: "built-in",
  })),
  formats: [...Object.values(CLIENT_FORMATS), converseFormat, interactionsFormat],
  settings: () => ({ apiKey: new Secret("none") }),
});

export type Foreseen =
  | { sent: JsonObject; lane: string; losses: { code: string; path: string }[] }
  /** `param`: the path that the error names. */
  | { refused: string; param: string | undefined };

/** A hook that changes nothing: weir translates also for a provider of the client's format. */
const HOOK: LoadedHooks = { plugin: "none", request() {} };

/**
 * @param body with `model` and, where the URL selects a stream, `stream`
 * @param translated also if the provider speaks the client's format
 */
export async function foresee(format: ClientFormat, body: JsonObject, translated = false): Promise<Foreseen> {
  const bytes = Buffer.from(JSON.stringify(body));
  const spans = scanBody(bytes, 99).members;
  const options = {
    format,
    // The copy is parsed, as every body is.
    body: JSON.parse(bytes.toString()) as JsonObject,
    bytes,
    spanOf: (name: string) => spans.get(name),
    headers: new Headers(),
  };
  try {
    const explained = await explain(options, {
      registry,
      hooks: translated ? [HOOK] : [],
      strict: false,
      reasoning: new ReasoningCache(),
      answerOptions: { commitMs: 0, keepMs: 0, foreignIds: "pass", hasSeveralKeys: () => false },
    });
    const { served_by, request, losses } = explained as unknown as {
      served_by: { lane: string };
      request: { body: JsonObject };
      losses: { code: string; path: string }[];
    };
    return { sent: request.body, lane: served_by.lane, losses };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return { refused: thrown.message, param: thrown.param };
  }
}

/** Steps of a path: `["messages", 0, "name"]`. */
type Steps = readonly (string | number)[];

/** A path as losses write it: `messages[0].name`. */
export const written = (steps: Steps): string =>
  steps.reduce<string>(
    (path, step) => (typeof step === "number" ? `${path}[${step}]` : path === "" ? step : `${path}.${step}`),
    "",
  );

/** The paths of all values that are no objects and no lists. */
export function leavesOf(value: Json, at: Steps = []): Steps[] {
  if (typeof value !== "object" || value === null) return [at];
  return Object.entries(value).flatMap(([name, member]) =>
    leavesOf(member ?? null, [...at, Array.isArray(value) ? Number(name) : name]),
  );
}

/** The paths of all objects, the outermost first. */
export function objectsOf(value: Json, at: Steps = []): Steps[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value).flatMap(([name, member]) =>
    objectsOf(member ?? null, [...at, Array.isArray(value) ? Number(name) : name]),
  );
  return Array.isArray(value) ? inner : [at, ...inner];
}

/** A copy of a body in which the value at a path is another one; without it if there is none. */
export function replaced(
  body: JsonObject,
  steps: Steps,
  change: (value: Json) => Json | undefined,
): JsonObject {
  const copy = structuredClone(body);
  let holder = copy as Record<string | number, Json>;
  for (const step of steps.slice(0, -1)) holder = holder[step] as Record<string | number, Json>;
  const last = steps.at(-1)!;
  const value = change(holder[last]!);
  if (value !== undefined) holder[last] = value;
  else if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete holder[last];
  return copy;
}

/** Other values of the same type, and none. */
function othersOf(value: Json): (Json | undefined)[] {
  if (typeof value === "string") return [`${value}x`, undefined];
  // A number may only choose among few steps.
  if (typeof value === "number") return [value + 1, value * 10, undefined];
  return [value === null ? "x" : !value, undefined];
}

/** The body with another value at a path, without the value, and without an object that has no other member. */
function variantsOf(body: JsonObject, steps: Steps): JsonObject[] {
  const holder = steps.slice(0, -1);
  const isAlone =
    typeof holder.at(-1) === "string" && Object.keys(valueAt(body, holder) as object).length === 1;
  return [
    ...othersOf(valueAt(body, steps)).map((other) => replaced(body, steps, () => other)),
    ...(isAlone ? [replaced(body, holder, () => undefined)] : []),
  ];
}

function valueAt(body: JsonObject, steps: Steps): Json {
  return steps.reduce<Json>((value, step) => (value as Record<string | number, Json>)[step]!, body);
}

/** The path with other indices: a member of several messages is told once. */
const general = (path: string) => path.replace(/\[\d+\]/g, "[]");

/** Whether a loss concerns the value at a path: it names the value, what contains it, or a part of it. */
export function isTold(losses: readonly { path: string }[], path: string): boolean {
  const at = general(path);
  const within = (inner: string, outer: string) =>
    inner === outer || (inner.startsWith(outer) && /^[.[]/.test(inner.slice(outer.length)));
  return losses.some((loss) => {
    const told = general(loss.path);
    return within(at, told) || within(told, at);
  });
}

/**
 * The values of a request that make no difference: weir sends the same with another value, and without any, and reports
 * nothing. Empty for a refused request.
 * @param paths of the values. Default: all
 */
export async function unseen(
  format: ClientFormat,
  body: JsonObject,
  paths: readonly Steps[] = leavesOf(body),
  translated = false,
): Promise<string[]> {
  const base = await foresee(format, body, translated);
  if (!("sent" in base)) return [];
  const known = JSON.stringify(base);
  const found: string[] = [];
  for (const steps of paths) {
    const path = written(steps);
    if (isTold(base.losses, path)) continue;
    let isSeen = false;
    for (const changed of variantsOf(body, steps)) {
      isSeen = JSON.stringify(await foresee(format, changed, translated)) !== known;
      if (isSeen) break;
    }
    if (!isSeen) found.push(path);
  }
  return found;
}
