/**
 * A kind of model besides those that generate text or embed it: one that reranks, one that judges texts. A request of a kind is one
 * JSON body or a form with files, and its answer is one JSON body, bytes, or a stream of events.
 */
import type { CodecContext } from "./context.ts";
import type { Units } from "./events.ts";
import type { ErrorAnswer } from "./format/answer-codec.ts";
import type { KindId } from "./does.ts";
import type { Frame } from "./frame.ts";
import type { KindAnswer, KindRequest, KindUsage } from "./kind.ts";
import type { GatewayError } from "./error.ts";
import type { Vendor } from "./format/routes.ts";
import type { HeaderReader } from "./headers.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Modality } from "./model-facts.ts";
import type { RequestSize } from "./request-size.ts";
import type { StreamObserver } from "./stream-observer.ts";
import type { TextPlaces } from "./text-places.ts";
import type { Upload } from "./upload.ts";

/** A kind as plans, lists and errors know it: one of requests ({@link ModelKind}), or one of sessions. */
export interface KnownKind {
  /** `rerank`: its name in `does` of a provider, and in the scope `endpoints` of keys. */
  id: KindId;
  /** What a provider without such models does, as the middle of a sentence: "The provider X … with the model Y". */
  lacks: string;
  /** The model of the mock that stands in for one of a vendor. */
  mock: string;
  /**
   * Content that models of the kind give: one that is known to give none of it is not of the kind. Empty: they give none, and
   * do nothing else. Absent: facts about content say nothing about the kind.
   */
  gives?: readonly Modality[];
  dialects: readonly { readonly id: string }[];
  /** Path where clients open a WebSocket. Absent: they send requests. */
  sessionsAt?: string;
}

export interface ModelKind<
  Request extends KindRequest = KindRequest,
  Answer extends KindAnswer = KindAnswer,
> extends KnownKind {
  /** Errors name the path of the first one. */
  routes: readonly KindRoute<Request, Answer>[];
  dialects: readonly KindDialect<Request, Answer>[];
  /** `unsent`: an attempt that may have reached the provider is not repeated, because a lost answer was paid. Default: `any`. */
  repeats?: "any" | "unsent";
  /** Longest JSON answer. Bytes; default: 32 MiB. */
  answerBytes?: number;
  /**
   * What the provider keeps from now on for who asked: later requests name it. Absent: answers of the kind leave nothing behind.
   */
  keeps?: KeepsCodec<Answer>;
  /** The size of a request for a program. */
  sizeOf(request: Request): RequestSize;
  /**
   * Checks an answer against its request and puts it in the order that every dialect promises.
   * @returns the same object if it is as it must be
   * @throws KindFault for an answer that does not fit the request
   */
  complete(answer: Answer, request: Request): Answer;
  /** Puts content in the place of addresses, where the client wants it. Absent: nothing is fetched. */
  fetches?: {
    /** The member of the request by which the client wants it. */
    member: string;
    /** @param fetch gets the content of an address that an answer names @returns the same object if nothing was fetched */
    content(answer: Answer, request: Request, fetch: (url: string) => Promise<Uint8Array>): Promise<Answer>;
  };
}

/** Whether clients send requests of the kind. */
export function hasRequests(kind: KnownKind | undefined): kind is ModelKind {
  return kind !== undefined && kind.sessionsAt === undefined;
}

/** How clients read, change and delete what a provider keeps for them, at the path of the first route of the kind and below it. */
export interface KeepsCodec<Answer extends KindAnswer = KindAnswer> {
  /** A word for it, for ids of operations: `CachedContent`. */
  id: string;
  /** In the plural, for people. */
  words: string;
  /** Beginning of all names, with its slash; what follows is the last segment of a path. */
  prefix: string;
  /** JSON schemas for the OpenAPI document. */
  schemas: { thing: JsonObject; update: JsonObject; list: JsonObject };
  /** What an answer says that the provider keeps. */
  thing(answer: Answer): KeptThing;
  /** Reads what the provider says of it later; `undefined` if the text does not. */
  read(text: string): KeptThing | undefined;
  /** @throws GatewayError `invalid-request` for a change that asks for no time */
  untilIn(update: JsonObject, now: number): number;
  /** What the provider would say of it, kept until then. @param expires milliseconds since 1970 */
  keptUntil(facts: JsonObject, expires: number): JsonObject;
  /** What it costs to keep it for longer. @param seconds may be negative */
  unitsFor(facts: JsonObject, seconds: number): Units;
  /** A page. @param next names the one behind it */
  list(facts: readonly JsonObject[], next: string | undefined): JsonObject;
  /** The page that a request asks for. @throws GatewayError `invalid-request` */
  page(query: URLSearchParams): { limit: number; after: string | undefined };
}

/** Something that a provider keeps for one key. */
export interface KeptThing {
  /** Its name at the provider, which begins with the name of its collection and a slash. */
  name: string;
  /** Milliseconds since 1970. */
  expires: number;
  /** What the provider says of it. */
  facts: JsonObject;
}

/** What is wrong with an answer, as the end of the sentence "The provider X …". */
export class KindFault extends Error {}

/** One path that clients ask. */
export interface KindRoute<
  Request extends KindRequest = KindRequest,
  Answer extends KindAnswer = KindAnswer,
> {
  /** `operationId` of the OpenAPI document. */
  operation: string;
  summary: string;
  description: string;
  /** Path of the route, and others that mean the same. */
  path: string;
  aliases?: readonly string[];
  /** The model of a request that names none. Absent: it must name one. */
  defaultModel?: string;
  /** The route takes forms with files (`multipart/form-data`) besides JSON. */
  form?: FormFields;
  /** JSON schemas of body, answer, and the data of an event, for the OpenAPI document. */
  schemas: { request: JsonObject; answer: JsonObject; event?: JsonObject };
  /** @throws GatewayError `invalid-request` with the path of the first fault */
  checkRequest(body: Json): asserts body is JsonObject;
  /**
   * @param body has passed `checkRequest`. Of a form it has the texts, and files as `{ filename, type, bytes, sha256 }`
   * @param upload of a form
   */
  decodeRequest(body: JsonObject, upload?: Upload): Request;
  /** @returns the body of the answer as JSON, or what it is with its content type */
  writeAnswer(answer: Answer, request: Request, facts: AnswerFacts): string | WrittenAnswer;
  /**
   * A whole answer as a stream of events, for requests with `stream`. Absent, or `undefined` for this answer: the client gets the
   * whole answer.
   */
  writeEvents?(answer: Answer, request: Request, facts: AnswerFacts): readonly Frame[] | undefined;
  /**
   * Whose clients ask: their keys, errors and texts are those of the vendor's format. Absent: those of the first format of
   * weir, with the members `encodeError` and `places` of the route.
   */
  vendor?: Vendor;
  /** The model of a name in a body, where clients write something around it. */
  readModel?(name: string): string;
  /** An error, where clients read another form than that of chat-completions. */
  encodeError?(error: GatewayError): ErrorAnswer;
  /** Where the texts of requests and answers are. */
  places?: TextPlaces;
}

/** How the fields of a form are read. Names are without `[]`. */
export interface FormFields {
  numbers?: readonly string[];
  booleans?: readonly string[];
  /** Fields that are lists even if they occur once. */
  lists?: readonly string[];
  /** Its files are audio, whose length weir reads (`UploadPart.audio`). */
  hasAudio?: true;
}

/** An answer that is no JSON text. */
export interface WrittenAnswer {
  type: string;
  body: Uint8Array | string;
}

/** `bytes`: passed as they come, with the provider's content type. `events`: server-sent events. */
export type AnswerForm = "json" | "bytes" | "events";

/** Facts for an answer besides its content. */
export interface AnswerFacts {
  /** `req_…` */
  id: string;
  /** When the call began. Seconds since 1970. */
  created: number;
  /** The model that answered. */
  model: string;
  /** Input tokens: those that the provider counted, else weir's estimate. */
  input: number;
}

/** How a provider is asked. */
export interface KindDialect<
  Request extends KindRequest = KindRequest,
  Answer extends KindAnswer = KindAnswer,
> {
  id: string;
  /** The name of a model in a body, where providers want something around it. */
  writeModel?(model: string): string;
  /** What a request may use at most, in the units in which providers of the dialect charge. */
  sizeOf(request: Request): RequestSize;
  /**
   * What providers always charge by: an answer that counts it is settled without the size of its request, which takes a
   * millisecond for each 400 KB of text. Absent: the size of each request says it.
   */
  charges?: "tokens" | "units";
  /**
   * Writes the body for the provider, and reports what it cannot carry.
   * @throws GatewayError `invalid-request` for what the provider cannot do at all
   */
  encodeRequest(request: Request, context: CodecContext): JsonObject | Promise<JsonObject>;
  /** Texts of the client's form that a host of the client's dialect gets changed, by field. It can change parts, and add none. */
  editForm?(request: Request, context: CodecContext): JsonObject;
  /** `undefined` if the text is no answer of the dialect. */
  readAnswer(text: string, request: Request): Answer | undefined;
  /** The same from the bytes, for answers with long strings that weir should not parse. Absent: `readAnswer`. */
  readBytes?(bytes: Uint8Array, request: Request): Answer | undefined;
  /** How the host answers. @param isNative whether the host got the client's bytes; default: `json` */
  answersWith?(request: Request, isNative: boolean): AnswerForm;
  /** What the host is charged for with an answer of bytes; absent: what `sizeOf` says. */
  usageOfBytes?(headers: HeaderReader, request: Request): KindUsage;
  /** Reads the events of streams. `frame` sets `seen.terminated` at the event that completes an answer, and `seen.usage`. */
  watch?: StreamObserver;
  /** The error for a failed status and its body (at most 64 KB of text). */
  decodeError(status: number, headers: HeaderReader, body: string): GatewayError;
  /** Whether clients of the dialect find a message in an error body: weir passes it on then. */
  isErrorBody(body: JsonObject): boolean;
  /** Lower-case names of the client headers that a provider of the client's dialect gets; `x-*` is a prefix wildcard. */
  requestHeaders: readonly string[];
  /** Lower-case names of the provider's headers that a client of the dialect gets. */
  answerHeaders: readonly string[];
}
