/**
 * The public interface: what `import … from "weir"` exports. Built-in and external plugins import nothing else of weir.
 *
 * The smallest plugin names a host that speaks a known format:
 *
 *     import { definePlugin, chatCompletions } from "weir";
 *
 *     export default definePlugin({
 *       name: "groq",
 *       providers: [
 *         chatCompletions({
 *           name: "groq",
 *           models: ["groq/*"],
 *           baseUrl: "https://api.groq.com/openai/v1",
 *           apiKey: "GROQ_API_KEY",
 *         }),
 *       ],
 *     });
 */
import type { CallView } from "./core/call-view.ts";
import type { JsonObject } from "./core/json.ts";
import type { ConfiguredPlugin, Plugin, PluginSection } from "./core/plugin.ts";
import { type ColumnSchema, PluginColumn, type PluginColumnOptions } from "./core/plugin-column.ts";
import {
  PluginCounter,
  PluginHistogram,
  type PluginHistogramOptions,
  type PluginMetricOptions,
} from "./core/plugin-metric.ts";
import type { OptionSchema, ValueOf } from "./core/plugin-schema.ts";
import type { Provider } from "./core/provider.ts";
import { bareModelName } from "./formats/shared/resource-name.ts";
import { eventStream } from "./stream/framing.ts";

export { globMatches } from "./core/glob.ts";
export { entraToken } from "./auth/entra.ts";
export { googleIdentity, googleToken } from "./auth/google.ts";
export { oauthToken } from "./auth/oauth-token.ts";
export { signV4 } from "./auth/sign-v4.ts";
export { awsCredentials, awsKeys, awsVariables } from "./auth/aws/credentials.ts";
export type { AttemptRecord, CallRecord, CallView, TargetView } from "./core/call-view.ts";
export type { AskAnswer, AskRequest } from "./core/ask.ts";
export { GatewayError, invalidRequest } from "./core/error.ts";
export { mergeUsage, NO_USAGE, usageState } from "./core/events.ts";
export { isObject, parseJson } from "./core/json.ts";
export { Slot } from "./core/slot.ts";
export { checkForeignFields } from "./formats/shared/foreign-fields.ts";
export { decodeError, decodeErrorBody } from "./formats/shared/upstream-error.ts";
export { eventStream, jsonArray, jsonLines, sse } from "./stream/framing.ts";
export type { EntraOptions } from "./auth/entra.ts";
export type { GoogleIdentity, GoogleTokenOptions } from "./auth/google.ts";
export type { FetchedToken } from "./auth/oauth-token.ts";
export type { AwsKeys, SignV4Options } from "./auth/sign-v4.ts";
export type * from "./core/chat.ts";
export type { ErrorKind, Refusable } from "./core/error.ts";
export type {
  BlockStart,
  ChatEvent,
  Citation,
  FinishKind,
  FinishReason,
  HostedDeclaration,
  HostedResult,
  HostedStart,
  Usage,
} from "./core/events.ts";
export type {
  AnswerCodec,
  AnswerFraming,
  AnswerReader,
  AnswerWriter,
  Beside,
  ClientCodec,
  ClientRoutes,
  ErrorAnswer,
  Format,
  Frame,
  NativeLaneCodec,
  ReaderCodec,
  RequestCheck,
  RequestFacts,
  StreamSummary as Seen,
  UpstreamAddress,
  UpstreamCodec,
  UsageRequest,
  StreamObserver as Watch,
} from "./core/format.ts";
export type { CredentialSet, CredentialSource } from "./core/credential.ts";
export type {
  EmbedAnswer,
  EmbedEndpoint,
  EmbedInput,
  EmbedPurpose,
  EmbedRequest,
  EmbedUsage,
} from "./core/embed.ts";
export type { CacheAnswer, CacheRequest } from "./core/cached-content.ts";
export type { DecisionAnswer, DecisionRequest, DecisionResult, Question } from "./core/decision.ts";
export type { Does, KindProgram, ModelDoes, Task } from "./core/does.ts";
export type { KindAnswer, KindEndpoint, KindEndpoints, KindRequest, KindUsage } from "./core/kind.ts";
export type { ImageAnswer, ImageInput, ImageRequest, MadeImage } from "./core/image.ts";
export type {
  ModerationAnswer,
  ModerationInput,
  ModerationRequest,
  ModerationResult,
} from "./core/moderation.ts";
export type { RealtimePeer, RealtimeProgram, RealtimeSession } from "./core/realtime.ts";
export type { SpeechAnswer, SpeechRequest } from "./core/speech.ts";
export type {
  AudioFile,
  TranscriptFormat,
  TranscriptionAnswer,
  TranscriptionRequest,
  TranscriptSegment,
  TranscriptWord,
} from "./core/transcription.ts";
export type {
  RawNumber,
  RerankAnswer,
  RerankDocument,
  RerankRequest,
  RerankResult,
  Score,
} from "./core/rerank.ts";
export type { EmbedClient } from "./core/embed-dialect.ts";
export type { CodecContext, CodecTarget } from "./core/context.ts";
export type { HeaderReader } from "./core/headers.ts";
export type { SpokenPath, SpokenPaths, Surroundings, Variable } from "./core/endpoint.ts";
export type { FrameReader, Framing } from "./core/frame.ts";
export type { Json, JsonObject } from "./core/json.ts";
export type {
  CheckHow,
  ConfiguredPlugin,
  Hooks,
  Interception,
  Plugin,
  PluginFinding,
  PluginSection,
} from "./core/plugin.ts";
export type { ColumnSchema, PluginColumn, PluginColumnOptions } from "./core/plugin-column.ts";
export type { PluginBatch, PluginFound, PluginGuard, PluginVerdict } from "./core/plugin-guard.ts";
export type {
  LabelValues,
  PluginCounter,
  PluginHistogram,
  PluginHistogramOptions,
  PluginMetric,
  PluginMetricOptions,
} from "./core/plugin-metric.ts";
export type { OptionSchema, ValueOf } from "./core/plugin-schema.ts";
export type { OutgoingRequest, Place, PlaceAnswer, PlaceRequest } from "./core/place.ts";
export type {
  Envelope,
  ErrorHint,
  ModelTraits,
  Provider,
  Target,
  TokenCounting,
  Traits,
} from "./core/provider.ts";

/** The former name of {@link CallView}. */
export type Call = CallView;

/** Declares a plugin. Every plugin file exports the result as default. */
export function definePlugin(plugin: Plugin): Plugin {
  return plugin;
}

/** The options of a plugin, with the types of their schema. */
export interface SectionOptions<Schema extends OptionSchema> {
  schema: Schema;
  configure(options: ValueOf<Schema>): ConfiguredPlugin | undefined;
}

/** Declares the options of a plugin: `configure` gets them with the types of the schema. */
export function defineSection<const Schema extends OptionSchema>(
  section: SectionOptions<Schema>,
): PluginSection {
  const configure = (options: JsonObject) => section.configure(options as ValueOf<Schema>);
  return { schema: section.schema, configure };
}

/** Declares a member that the plugin adds to the record of a call; `columns` of the plugin lists it, and hooks set it. */
export function defineColumn<const Schema extends ColumnSchema>(
  options: PluginColumnOptions<Schema>,
): PluginColumn<ValueOf<Schema>> {
  return new PluginColumn<ValueOf<Schema>>(options.name, options.schema);
}

/** Declares a counter; `metrics` of the plugin lists it, and hooks add to it. */
export function defineCounter<const Label extends string = never>(
  options: PluginMetricOptions<Label>,
): PluginCounter<Label> {
  return new PluginCounter<Label>(options.name, options.help, options.labels ?? []);
}

/** Declares a histogram; `metrics` of the plugin lists it, and hooks observe values. */
export function defineHistogram<const Label extends string = never>(
  options: PluginHistogramOptions<Label>,
): PluginHistogram<Label> {
  return new PluginHistogram<Label>(options.name, options.help, options.labels ?? [], options.buckets);
}

/** A provider that speaks chat-completions at `baseUrl` + `/chat/completions`. */
export function chatCompletions(provider: Omit<Provider, "generate">): Provider {
  return { ...provider, speaks: { "chat-completions": "/chat/completions", ...provider.speaks } };
}

/** A provider that speaks messages at `baseUrl` + `/v1/messages`, with the credential in `x-api-key`. */
export function messages(provider: Omit<Provider, "generate">): Provider {
  return { auth: "x-api-key", ...provider, speaks: { messages: "/v1/messages", ...provider.speaks } };
}

/** A provider that speaks Converse of Amazon Bedrock at `baseUrl` + `/model/{model}/converse`, and streams as AWS event streams. */
export function converse(provider: Omit<Provider, "generate">): Provider {
  return {
    requestIdHeader: "x-amzn-requestid",
    ...provider,
    speaks: {
      converse: { json: "/model/{model}/converse", stream: "/model/{model}/converse-stream" },
      ...provider.speaks,
    },
    framing: { converse: eventStream(), ...provider.framing },
  };
}

/** A provider that speaks gemini at `baseUrl` + `/v1beta/models/{model}:generateContent`, with the credential in `x-goog-api-key`. */
export function gemini(provider: Omit<Provider, "generate">): Provider {
  const paths = {
    json: "/v1beta/models/{model}:generateContent",
    stream: "/v1beta/models/{model}:streamGenerateContent?alt=sse",
    modelFor: bareModelName,
  };
  return {
    auth: (apiKey) => ({ "x-goog-api-key": apiKey }),
    ...provider,
    speaks: { gemini: paths, ...provider.speaks },
  };
}
