/** A dialect of embeddings: how clients ask for vectors, and how a provider is asked for them. */
import type { CodecContext } from "./context.ts";
import type { EmbedAnswer, EmbedEndpoint, EmbedRequest, EmbedUsage } from "./embed.ts";
import type { GatewayError } from "./error.ts";
import type { HeaderReader } from "./headers.ts";
import type { Json, JsonObject } from "./json.ts";

/** How the clients of a format ask for vectors. */
export interface EmbedClient {
  /** Id of the dialect: a provider of the same dialect gets the client's bytes. */
  dialect: string;
  /** `operationId` of the OpenAPI document. */
  operation: string;
  /** Path of the route, for example `/v1/embeddings`. */
  path: string;
  /** JSON schemas of body and answer, for the OpenAPI document. */
  schemas: { request: JsonObject; answer: JsonObject };
  /** @throws GatewayError `invalid-request` with the path of the first fault */
  checkRequest(body: Json): asserts body is JsonObject;
  /** @param body has passed `checkRequest`; with a {@link UrlAddress}, its member `model` is what the URL says */
  decodeRequest(body: JsonObject): EmbedRequest;
  /**
   * @param startedAt when the call began; milliseconds of the monotonic clock (`performance.now()`)
   * @returns the body of the answer as JSON text
   */
  writeAnswer(answer: WholeAnswer, request: EmbedRequest, startedAt: number): string;
}

/** An answer for the client. */
export type WholeAnswer = Required<EmbedAnswer>;

/** How a provider is asked for vectors. */
export interface EmbedDialect {
  id: string;
  /** Most inputs of one request, where the provider says nothing else. */
  maxInputs: number;
  /** Accepts token ids in place of texts. */
  tokenIds?: boolean;
  /**
   * Writes the body for the provider, and reports what it cannot carry.
   * @param request has at most as many inputs as the endpoint accepts
   * @throws GatewayError `invalid-request` for an option without which the vectors would be of no use to the client
   */
  encodeRequest(request: EmbedRequest, endpoint: EmbedEndpoint, context: CodecContext): JsonObject;
  /** The vectors of an answer; `undefined` if the body is no answer of the dialect. */
  readAnswer(body: JsonObject, headers: HeaderReader, endpoint: EmbedEndpoint): EmbedAnswer | undefined;
  /** For bodies that pass unchanged; absent for dialects without a client. */
  native?: NativeEmbeddings;
  /** The error for a failed status and its body (at most 64 KB of text). */
  decodeError(status: number, headers: HeaderReader, body: string): GatewayError;
  /** Lower-case names of the client headers that a provider of the client's dialect gets; `x-*` is a prefix wildcard. */
  requestHeaders: readonly string[];
  /** Lower-case names of the provider's headers that a client of the dialect gets. */
  answerHeaders: readonly string[];
}

/** For bodies that pass unchanged between a client and a provider of the same dialect. */
export interface NativeEmbeddings {
  /** Whether the client's body fits the host as it is. */
  fits(request: EmbedRequest, endpoint: EmbedEndpoint): boolean;
  /** Facts of an answer that weir needs, without its vectors parsed; `undefined` if it is no answer of the dialect. */
  observe(bytes: Uint8Array): ObservedEmbeddings | undefined;
  /** Whether clients find a message in an error body: weir passes it on then. */
  isErrorBody(body: JsonObject): boolean;
}

export interface ObservedEmbeddings {
  /** Number of vectors. */
  count: number;
  encoding: EmbedRequest["encoding"];
  usage?: EmbedUsage;
  /** Top-level members as clients of the dialect expect them, where the provider leaves out a part. */
  completed?: JsonObject;
}
