/**
 * Replays recorded requests across the formats of Google and Amazon: those of Gemini clients to upstreams of every other
 * format, and those of chat, messages and responses clients to Gemini and Converse upstreams.
 */
import { parseJson } from "../../src/core/json.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Recording } from "../helpers/recordings.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { startUpstream } from "../helpers/upstream.ts";
import { requestBody } from "./call.ts";
import { sentenceOf, post, type Client } from "./clients.ts";
import { converseWishes, piecesOfConverse } from "./converse-pieces.ts";
import { converseFaults } from "./converse-rules.ts";
import { geminiFaults } from "./gemini-rules.ts";
import { geminiWishes, piecesOfGemini, plainSchema } from "./gemini-pieces.ts";
import type { HostReplay } from "./host-answers.ts";
import { hostRefusal } from "./host-refusals.ts";
import { hostsConfig, hostPlugins, reachedBy, type HostApi, type Reached } from "./hosts.ts";
import { lostBetween } from "./lost.ts";
import { eachOf } from "./native.ts";
import { canonical, piecesOf, type Piece } from "./pieces.ts";
import { hostAnswer, noModels, plainAnswer } from "./plain-answer.ts";
import { startReplayed } from "./plant.ts";
import type { Api } from "./policy.ts";
import { requestFaults } from "./request-rules.ts";
import { piecesOfResponses, responsesWishes } from "./responses-requests.ts";
import { listOf, objectOf, type Value } from "./said.ts";
import { changedBetween, untold } from "./settings.ts";
import { thinkingFaults } from "./thinking.ts";
import { readLosses } from "./translated.ts";
import { recordedProviders } from "./vendors.ts";

export type UpstreamApi = Api | HostApi;

/** The models that a request goes to. */
const MODELS: Readonly<Record<UpstreamApi, readonly string[]>> = {
  chat: ["openai/gpt-4.1", "openai/gpt-5.2"],
  messages: ["anthropic/claude-opus-4-6", "anthropic/claude-sonnet-4-5"],
  gemini: [
    "gemini/gemini-2.5-flash",
    "gemini/gemini-3.1-pro-preview",
    "vertex-express/gemini-3-flash-preview",
  ],
  bedrock: ["aws/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "aws/amazon.nova-lite-v1:0"],
};

interface Sent {
  url: string;
  body: Value;
  stream: boolean;
}

/** A format as its clients write requests. */
interface ClientSide {
  sent(recording: Recording, model: string): Sent;
  pieces(body: Value): Piece[];
  /** The wishes, and the format in whose words they are. */
  wishes(sent: Sent): Value;
  api: Api;
  /** A path of a loss in the words of `api`. */
  path(loss: string): string;
}

const same = (loss: string) => loss;

const CLIENTS: Readonly<Record<Client, ClientSide>> = {
  chat: {
    sent: (recording, model) => atRoute("/v1/chat/completions", { ...requestBody(recording), model }),
    pieces: piecesOf.chat,
    ...{ wishes: ({ body }) => body, api: "chat", path: same },
  },
  messages: {
    sent: (recording, model) => atRoute("/v1/messages", { ...requestBody(recording), model }),
    pieces: piecesOf.messages,
    ...{ wishes: ({ body }) => body, api: "messages", path: same },
  },
  responses: {
    sent: (recording, model) => atRoute("/v1/responses", { ...recording.request!.body, model }),
    pieces: (body) => piecesOfResponses(body as JsonObject),
    ...{ wishes: ({ body }) => responsesWishes(body as JsonObject), api: "chat" },
    path: (loss) =>
      loss.startsWith("text.format") ? "response_format" : loss.replace(/^max_output_tokens/, "max_tokens"),
  },
  gemini: {
    sent(recording, model) {
      const stream = recording.framing !== "json";
      const operation = stream ? "streamGenerateContent?alt=sse" : "generateContent";
      const url = `/v1beta/models/${encodeURIComponent(model)}:${operation}`;
      return { url, body: { ...recording.request!.body }, stream };
    },
    pieces: piecesOfGemini,
    ...{ wishes: ({ body, stream }) => geminiWishes(body, stream), api: "chat" },
    path: (loss) => CHAT_PATHS.find(([path]) => path.test(loss))?.[1] ?? loss,
  },
};

/** Paths of a Gemini request by the member of chat-completions that says the same. */
const CHAT_PATHS: readonly [RegExp, string][] = [
  [/response_?((json_?)?schema|mime_?type)/i, "response_format"],
  [/max_?output_?tokens/i, "max_tokens"],
  [/stop_?sequences/i, "stop"],
  [/top_?p/i, "top_p"],
  [/top_?k/i, "top_k"],
  [/temperature/, "temperature"],
  [/tool_?config/i, "tool_choice"],
  [/presence_?penalty/i, "presence_penalty"],
  [/frequency_?penalty/i, "frequency_penalty"],
];

function atRoute(url: string, body: Value): Sent {
  return { url, body, stream: body["stream"] === true };
}

interface UpstreamSide {
  pieces(body: Value): Piece[];
  /** The wishes, and the format in whose words they are. */
  wishes(reached: Reached): Value;
  api: Api;
  faults(body: Value, model: string): string[];
}

const UPSTREAMS: Readonly<Record<UpstreamApi, UpstreamSide>> = {
  chat: { pieces: piecesOf.chat, wishes: ({ body }) => body, api: "chat", faults: requestFaults.chat },
  messages: {
    pieces: piecesOf.messages,
    wishes: ({ body }) => body,
    api: "messages",
    faults: requestFaults.messages,
  },
  gemini: {
    pieces: piecesOfGemini,
    ...{ wishes: ({ body, stream }) => geminiWishes(body, stream), api: "chat", faults: geminiFaults },
  },
  bedrock: {
    pieces: piecesOfConverse,
    ...{
      wishes: ({ body, stream }) => converseWishes(body, stream),
      api: "messages",
      faults: converseFaults,
    },
  },
};

/** Replays the requests of clients of one format to every model of another one. */
export async function replayHostRequests(
  client: Client,
  upstreamApi: UpstreamApi,
  list: readonly Recording[],
): Promise<HostReplay[]> {
  const reached = new Map<string, Reached>();
  const upstream = startUpstream((request) => {
    if (request.method === "GET") return noModels();
    const found = reachedBy(request);
    reached.set(found.mark, found);
    if (upstreamApi === "chat" || upstreamApi === "messages") return plainAnswer(upstreamApi, found.stream);
    return hostAnswer(upstreamApi, found.stream);
  });
  const gateway = await startReplayed({
    target: "source",
    config: {
      providers: { ...recordedProviders(upstream.url), ...hostsConfig(upstream.url) },
      log: { level: "error", format: "json" },
      retries: { attempts: 1 },
    },
    plugins: hostPlugins(upstream.url),
  });
  let serial = 0;
  const replay = async (recording: Recording, model: string): Promise<HostReplay> => {
    const mark = `-x${serial++}`;
    const sent = CLIENTS[client].sent(recording, model + mark);
    const response = await post(gateway.url + sent.url, sent.body);
    const { text } = await readStreamed(response, true);
    const found = reached.get(mark);
    if (response.status === 400 && !found) return refusal(recording, client, upstreamApi, sent.body, text);
    if (response.status !== 200 || !found)
      return { recording, faults: [`(${model}) status ${response.status}: ${text.slice(0, 300)}`] };
    const losses = readLosses(response.headers.get("x-weir-warnings") ?? "");
    const faults = judge({
      client,
      upstreamApi,
      model,
      sent,
      reached: found,
      losses,
      wasRefused: recording.response.status === 400,
    });
    return { recording, faults: faults.map((fault) => `(${model}) ${fault}`) };
  };
  try {
    return await eachOf(list.filter(hasBody), async (recording) => {
      const replays: HostReplay[] = [];
      for (const model of MODELS[upstreamApi]) replays.push(await replay(recording, model));
      const refused = replays.find((each) => each.refused !== undefined)?.refused;
      return {
        recording,
        faults: replays.flatMap(({ faults }) => faults),
        ...(refused !== undefined && { refused }),
      };
    });
  } finally {
    await gateway.stop();
    upstream.stop();
  }
}

const hasBody = ({ request }: Recording) => typeof request?.body === "object" && request.body !== null;

interface Judged {
  client: Client;
  upstreamApi: UpstreamApi;
  model: string;
  sent: Sent;
  reached: Reached;
  losses: string[];
  /** The recorded answer is a 400. */
  wasRefused: boolean;
}

function judge(judged: Judged): string[] {
  const { client, upstreamApi, model, sent, reached, losses } = judged;
  const [from, to] = [CLIENTS[client], UPSTREAMS[upstreamApi]];
  const wishes = sayable(from.wishes(sent), upstreamApi);
  const got = to.wishes(reached);
  const said = { ...wishes, model };
  const chatPaths = losses.map((loss) => from.path(loss));
  return [
    // What its own vendor refused need not be right.
    ...(judged.wasRefused ? [] : to.faults(reached.body, model)).filter(
      (fault) => !CONTINUES.test(`${model} ${fault}`),
    ),
    ...lostBetween(ownPieces(judged), reachedPieces(judged), sent.body, losses),
    ...changedBetween(from.api, to.api, said, got, chatPaths),
    ...(client === "chat" || client === "messages" ? untold(client, said, got, losses) : []),
    ...(upstreamApi === "gemini" ? thinkingFaults(client, sent.body, reached.body, model, losses) : []),
  ];
}

/** This model may continue an answer that stands last. */
const CONTINUES = /sonnet-4-5 .* does not continue an answer/;

/** Wishes that hosts have no member for and that change no answer; the effort of Google's models has a judge of its own. */
const UNSAYABLE: Readonly<Record<UpstreamApi, readonly string[]>> = {
  chat: [],
  messages: [],
  gemini: [
    "user",
    "safety_identifier",
    "metadata",
    "service_tier",
    "reasoning_effort",
    "reasoning",
    "thinking",
    "enable_thinking",
  ],
  bedrock: ["user", "safety_identifier", "metadata", "service_tier"],
};

function sayable(wishes: Value, upstreamApi: UpstreamApi): Value {
  const kept = Object.entries(wishes).filter(([name]) => !UNSAYABLE[upstreamApi].includes(name));
  const { output_config: output, ...rest } = Object.fromEntries(kept);
  const { effort, ...format } = objectOf(output);
  if (upstreamApi !== "gemini" || effort === undefined) return Object.fromEntries(kept);
  return { ...rest, output_config: format };
}

/** What the client said, as it can be compared with what reached the upstream. */
function ownPieces({ client, upstreamApi, model, sent, losses }: Judged): Piece[] {
  const pieces = CLIENTS[client].pieces(sent.body);
  const { wishes, path } = CLIENTS[client];
  // Amazon's models know no choice of none: weir offers no tool, and says so.
  const isNone = choiceOf(wishes(sent)) === "none" && losses.some((loss) => /^tool_choice/.test(path(loss)));
  const kept = isNone && upstreamApi === "bedrock" ? pieces.filter(({ kind }) => kind !== "tool") : pieces;
  const pieced = comparable(kept, takesStrict(model), client === "gemini");
  // Vertex takes no id that it did not give: with a blank it is legal nowhere, and need not be kept.
  const isVertex = model.startsWith("vertex");
  return isVertex
    ? pieced.map((each) => (each.id === undefined ? each : { ...each, id: ` ${each.id}` }))
    : pieced;
}

function choiceOf({ tool_choice: choice }: Value): unknown {
  return typeof choice === "object" && choice !== null ? objectOf(choice)["type"] : choice;
}

/** Names of files may stand as text beside the files. */
function reachedPieces({ upstreamApi, model, sent, reached }: Judged): Piece[] {
  const names = new Set(
    [...JSON.stringify(sent.body).matchAll(/"(?:filename|title|document_name)":("(?:[^"\\]|\\.)*")/g)].map(
      ([, name]) => JSON.parse(name!) as string,
    ),
  );
  // Amazon's models take no empty result.
  const isName = ({ kind, value }: Piece) => kind === "text" && (names.has(value) || value === "(no output)");
  const pieces = UPSTREAMS[upstreamApi].pieces(reached.body).filter((piece) => !isName(piece));
  const without = pieces.map((piece) => ({
    ...piece,
    inside: piece.inside?.filter((each) => !isName(each)),
  }));
  return comparable(without, takesStrict(model), upstreamApi === "gemini");
}

/** Hosts that do not know the member hold the model to the schema anyway, or cannot. */
function takesStrict(model: string): boolean {
  return /^(openai|anthropic)\/|claude/.test(model);
}

/** JSON in results is written anew, and a schema in the words of JSON Schema. */
function comparable(pieces: readonly Piece[], takesStrict: boolean, isGoogles: boolean): Piece[] {
  return pieces.map((piece) => {
    if (piece.kind === "tool") {
      const schema = hasNoMembers(piece.schema) ? { type: "object" } : plainSchema(piece.schema, isGoogles);
      return { ...piece, schema, strict: takesStrict && piece.strict };
    }
    if (piece.kind !== "result") return piece;
    const inside = piece.inside?.map((each) =>
      each.kind === "text" ? { ...each, value: rewritten(each.value) } : each,
    );
    return { ...piece, inside };
  });
}

/** A tool without arguments may have no schema. */
function hasNoMembers(schema: unknown): boolean {
  const { properties, $ref, anyOf, oneOf, allOf } = objectOf(schema);
  return Object.keys(objectOf(properties)).length === 0 && ($ref ?? anyOf ?? oneOf ?? allOf) === undefined;
}

/** Behind the JSON weir may say that media follow. */
function rewritten(text: string): string {
  const [, json = text, behind = ""] = /^([^]*[\]}])(\s*\[(?:image|document) \d[^]*)$/.exec(text) ?? [];
  try {
    return canonical(JSON.parse(json)) + behind;
  } catch {
    return text;
  }
}

function refusal(
  recording: Recording,
  client: Client,
  upstreamApi: UpstreamApi,
  sent: Value,
  text: string,
): HostReplay {
  const { error } = parseJson(text) as {
    error: { message: string; param?: string | null; details?: unknown };
  };
  const named = listOf(error.details).flatMap(({ fieldViolations }) => listOf(fieldViolations))[0]?.["field"];
  const quoted = /^([\w.[\]]+): |'([\w.[\]]+)'/.exec(error.message);
  const field = String(error.param ?? named ?? quoted?.[1] ?? quoted?.[2] ?? "");
  const reason = hostRefusal(client, upstreamApi, field, sent);
  if (reason) return { recording, refused: `refused with 400: ${reason}`, faults: [] };
  return { recording, faults: [`refused without a reason that is allowed: ${field}: ${sentenceOf(text)}`] };
}
