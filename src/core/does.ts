/** What providers do besides generating text and embedding it. */
import type { CallView } from "./call-view.ts";
import type { CacheAnswer, CacheRequest } from "./cached-content.ts";
import type { DecisionAnswer, DecisionRequest } from "./decision.ts";
import type { ImageAnswer, ImageRequest } from "./image.ts";
import type { KindAnswer, KindEndpoints, KindRequest } from "./kind.ts";
import type { ModerationAnswer, ModerationRequest } from "./moderation.ts";
import type { RealtimeProgram } from "./realtime.ts";
import type { SpeechAnswer, SpeechRequest } from "./speech.ts";
import type { TranscriptionAnswer, TranscriptionRequest } from "./transcription.ts";
import type { RerankAnswer, RerankRequest } from "./rerank.ts";

/** A program that answers requests of a kind by itself. `call.signal` aborts when the client disconnects. */
export type KindProgram<Request extends KindRequest, Answer extends KindAnswer> = (
  request: Request,
  call: CallView,
) => Answer | Promise<Answer>;

export interface Does {
  /**
   * Continues texts: a host has the endpoints by format (`{ completions: "/completions" }`). `true`: `generate` of the program answers
   * requests with `completion` too.
   */
  completion?: KindEndpoints | true;
  /** Orders documents by how well they fit a query. */
  rerank?: KindEndpoints | KindProgram<RerankRequest, RerankAnswer>;
  /** Says how likely the answers to a question are. */
  decision?: KindEndpoints | KindProgram<DecisionRequest, DecisionAnswer>;
  /** Keeps the beginning of prompts for later requests. */
  cache?: KindEndpoints | KindProgram<CacheRequest, CacheAnswer>;
  /** Judges texts and images. */
  moderation?: KindEndpoints | KindProgram<ModerationRequest, ModerationAnswer>;
  /** Holds sessions over a WebSocket. */
  realtime?: KindEndpoints | RealtimeProgram;
  /** Makes images, and edits them. */
  image?: KindEndpoints | KindProgram<ImageRequest, ImageAnswer>;
  /** Reads texts aloud. */
  speech?: KindEndpoints | KindProgram<SpeechRequest, SpeechAnswer>;
  /** Writes down speech. */
  transcription?: KindEndpoints | KindProgram<TranscriptionRequest, TranscriptionAnswer>;
}

/** Ids of kinds. */
export type KindId = keyof Does;

/** What a model does, as lists of models name it: a kind, or `chat` for text generated from a conversation. */
export type Task = "chat" | "embedding" | KindId;

/** What some models of a provider do. */
export interface ModelDoes {
  /** Globs over the provider's names of the models. */
  models: readonly string[];
  does: readonly Task[];
}

/** The endpoints of a kind, or the program, at a provider whose plugin was checked. */
export type ServedKind = KindEndpoints | KindProgram<KindRequest, KindAnswer> | true;

/** What a provider has for a kind; undefined: nothing. */
export function servedKind(does: Does | undefined, kind: string): ServedKind | undefined {
  return (does as Readonly<Record<string, ServedKind | undefined>> | undefined)?.[kind];
}

/** The kinds that a provider serves, with what it has for each. */
export function servedKinds(does: Does | undefined): [kind: string, served: ServedKind][] {
  return Object.entries((does ?? {}) as Readonly<Record<string, ServedKind | undefined>>).flatMap(
    ([kind, served]) => (served === undefined ? [] : [[kind, served] as [string, ServedKind]]),
  );
}

/** Whether a host serves a kind, and no program. */
export function isHosted(served: ServedKind): served is KindEndpoints {
  return typeof served === "object";
}

/** Whether a provider is a host for some kind. */
export function hostsKinds(does: Does | undefined): boolean {
  return servedKinds(does).some(([, served]) => isHosted(served));
}
