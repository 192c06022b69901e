/** The lanes of the formats of Google and Amazon, as data: which recordings go where. */
import type { Chunking, Recording } from "../helpers/recordings.ts";
import type { Client } from "./clients.ts";
import { replayEmbeddingAnswers, replayNativeEmbeddings } from "./embeddings.ts";
import { replayGeminiNative } from "./gemini-native.ts";
import { replayHostAnswers, type HostReplay } from "./host-answers.ts";
import { replayHostRequests, type UpstreamApi } from "./host-requests.ts";
import { replayHostSessions } from "./host-sessions.ts";
import type { AnswerApi, HostApi } from "./hosts.ts";
import { isOfClaude, replayInvoke } from "./invoke.ts";
import type { Mutation } from "./mutations.ts";
import type { Api } from "./policy.ts";

export interface HostLane {
  title: string;
  kind: Mutation["lane"];
  /** API of the recordings. */
  api: Client | AnswerApi | "embeddings";
  /** The client of an answer or a session, the upstream of a request. */
  other?: Client | HostApi | "embeddings";
  replay(list: readonly Recording[], chunkings?: readonly Chunking[]): Promise<HostReplay[]>;
}

const NAMES: Readonly<Record<string, string>> = { bedrock: "converse", bedrock_invoke: "InvokeModel" };
const nameOf = (api: string) => NAMES[api] ?? api;

function answers(api: AnswerApi, client: Client): HostLane {
  return {
    title: `Answers of ${nameOf(api)} upstreams to ${client} clients`,
    ...{ kind: "answer", api, other: client },
    replay: (list, chunkings) =>
      replayHostAnswers(api, api === "bedrock_invoke" ? list.filter(isOfClaude) : list, client, chunkings),
  };
}

function requests(client: Client, upstream: UpstreamApi): HostLane {
  return {
    title: `Requests of ${client} clients to ${nameOf(upstream)} upstreams`,
    ...{ kind: "request", api: client, other: upstream },
    replay: (list) => replayHostRequests(client, upstream, list),
  };
}

function sessions(api: HostApi, client: Api): HostLane {
  return {
    title: `Sessions of ${client} clients with ${nameOf(api)} upstreams`,
    ...{ kind: "session", api, other: client },
    replay: (list) => replayHostSessions(api, client, list),
  };
}

export const HOST_LANES: readonly HostLane[] = [
  {
    title: "Native exchanges of gemini clients",
    ...{ kind: "native", api: "gemini" },
    replay: replayGeminiNative,
  },
  {
    title: "Native exchanges of messages clients over InvokeModel",
    ...{ kind: "native", api: "bedrock_invoke" },
    replay: replayInvoke,
  },
  answers("bedrock_invoke", "chat"),
  answers("bedrock_invoke", "responses"),
  answers("bedrock_invoke", "gemini"),
  answers("gemini", "chat"),
  answers("gemini", "messages"),
  answers("gemini", "responses"),
  answers("bedrock", "chat"),
  answers("bedrock", "messages"),
  answers("bedrock", "responses"),
  answers("bedrock", "gemini"),
  answers("chat", "gemini"),
  answers("messages", "gemini"),
  requests("gemini", "chat"),
  requests("gemini", "messages"),
  requests("gemini", "bedrock"),
  requests("chat", "gemini"),
  requests("messages", "gemini"),
  requests("responses", "gemini"),
  requests("chat", "bedrock"),
  requests("messages", "bedrock"),
  requests("responses", "bedrock"),
  {
    title: "Native embeddings of OpenAI clients",
    ...{ kind: "native", api: "embeddings" },
    replay: replayNativeEmbeddings,
  },
  {
    title: "Embeddings of every dialect to the OpenAI SDK",
    ...{ kind: "answer", api: "embeddings" },
    replay: replayEmbeddingAnswers,
  },
  {
    title: "Embeddings of InvokeModel to the OpenAI SDK",
    ...{ kind: "answer", api: "bedrock_invoke", other: "embeddings" },
    replay: replayEmbeddingAnswers,
  },
  sessions("gemini", "chat"),
  sessions("gemini", "messages"),
  sessions("bedrock", "chat"),
  sessions("bedrock", "messages"),
];
