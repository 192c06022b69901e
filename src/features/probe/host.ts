/** Sends the calls of a probe: each with a timeout and few output tokens, all of them within one budget. */
import { withoutKeys } from "../../core/error-text.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../core/json.ts";
import { limitText, printable } from "../../core/printable.ts";
import { GatewayError } from "../../core/error.ts";
import type { HeaderReader } from "../../core/headers.ts";
import { authorizedHeaders } from "../../gateway/routing/authorizer.ts";
import { describeReason, reasonOf, type Transport, type UpstreamResponse } from "../../http/index.ts";
import { type ProbeAnswer, answerIn, hasReasoned, type StreamSeen, streamIn } from "./answer.ts";
import type { ProbedHost } from "./probed-host.ts";

/** Maximum time of a call. Milliseconds. */
const CALL_MS = 30_000;
/** Maximum number of bytes that are read of an answer. */
const MOST_READ = 1_000_000;
/** Maximum time of a run. Milliseconds. */
const RUN_MS = 300_000;
/** A 429 with a longer pause is not waited for. Milliseconds. */
const MOST_PAUSE_MS = 20_000;
/** How many calls are repeated after a 429, in the whole run. */
export const MOST_REPEATS = 4;
/** Output limit of a call, and of a call to a model that reasons first. */
const LIMIT = 64;
export const REASONING_LIMIT = 512;
/** Length of a text that is quoted as evidence. Bytes. */
const QUOTED = 160;

/** The result of a call. */
export type Reply =
  | { kind: "answer"; answer: ProbeAnswer; stream?: StreamSeen; headers: HeaderReader }
  /** A body that is no answer of chat-completions: of another path, or of a wrong host. */
  | { kind: "other"; status: number; body: Json | undefined; text: string; headers: HeaderReader }
  /** The host answered with an error about the request. */
  | { kind: "refused"; status: number; words: string; body: Json | undefined; headers: HeaderReader }
  /** No answer, or an error that is not about the request: a limit, an overload, a broken connection. */
  | { kind: "failed"; status?: number; words: string; body?: Json | undefined };

export type LimitField = "max_tokens" | "max_completion_tokens";

export interface HostOptions {
  place: ProbedHost;
  model: string;
  transport: Transport;
  /** Maximum number of calls with those that are repeated. */
  mostCalls: number;
  /** Waits. @param milliseconds at most 20,000 */
  pause?(milliseconds: number): Promise<unknown>;
  /** Aborts the run. */
  stop?: AbortSignal;
  callMs?: number;
  runMs?: number;
}

export interface SendOptions {
  /** Headers in addition to those of the place; they replace the credential if they have its name. */
  headers?: Readonly<Record<string, string>>;
  /** The connection is closed after this many bytes of the answer. Default 1,000,000. */
  mostBytes?: number;
}

export class Host {
  model: string;
  readonly place: ProbedHost;
  /** The name under which the host takes the output limit. */
  limitField: LimitField = "max_tokens";
  /** The model reasons before it answers, whether it shows that or not. */
  reasons = false;
  /** The member or tag in which an answer had reasoning. */
  reasoning: string | undefined;
  /** The models that the host lists. */
  listed: readonly string[] = [];
  /** Members that every later call needs, found on the way: `tool_choice` that forces a call. */
  forcing: JsonObject = {};
  /** Why the first call got no answer, not even an error. */
  silence: string | undefined;
  /** The host streams. */
  streams = false;
  /** The host takes tools. */
  takesTools = false;
  calls = 0;
  readonly #options: HostOptions;
  readonly #endsAt: number;
  #repeats = 0;

  constructor(options: HostOptions) {
    this.#options = options;
    this.place = options.place;
    this.model = options.model;
    this.#endsAt = performance.now() + (options.runMs ?? RUN_MS);
  }

  get chatUrl(): string {
    return this.place.chatUrl(this.model);
  }

  /** Asks for an answer. Members with the value `null` are left out, so that a probe can take one away. */
  async chat(members: JsonObject): Promise<Reply> {
    const limit = this.reasons ? REASONING_LIMIT : LIMIT;
    const all: JsonObject = { model: this.model, [this.limitField]: limit, ...members };
    const body = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
    const reply = await this.send("POST", this.chatUrl, body as JsonObject);
    if (reply.kind === "answer") {
      if (hasReasoned(reply.answer)) this.reasons = true;
      if (reply.stream) this.streams = true;
      this.reasoning ??= reply.answer.reasoning?.member;
    }
    return reply;
  }

  /**
   * Sends one call. After a 429 it waits for as long as the host says and repeats it, a few times in the whole run.
   * @param path behind the base URL, or an absolute URL
   */
  async send(
    method: "GET" | "POST",
    path: string,
    body?: JsonObject,
    options: SendOptions = {},
  ): Promise<Reply> {
    for (;;) {
      if (this.calls >= this.#options.mostCalls)
        return { kind: "failed", words: "the limit of calls is reached" };
      if (performance.now() > this.#endsAt) return { kind: "failed", words: "the time of the probe is over" };
      this.calls++;
      const { reply, retryMs } = await this.#once(method, path, body, options);
      if (retryMs === undefined || retryMs > MOST_PAUSE_MS || this.#repeats >= MOST_REPEATS) return reply;
      this.#repeats++;
      await (this.#options.pause ?? Bun.sleep)(retryMs);
    }
  }

  async #once(
    method: "GET" | "POST",
    path: string,
    body: JsonObject | undefined,
    { headers: extra, mostBytes = MOST_READ }: SendOptions,
  ): Promise<{ reply: Reply; retryMs?: number }> {
    const { place } = this;
    const { callMs = CALL_MS, stop } = this.#options;
    const timeout = AbortSignal.timeout(callMs);
    const request = {
      method,
      url: path.includes("://") ? path : place.baseUrl + path,
      headers: {
        "user-agent": "weir",
        ...place.headers,
        ...(body && { "content-type": "application/json" }),
        accept: body?.["stream"] === true ? "text/event-stream" : "application/json",
        "accept-encoding": "identity",
        ...place.credentials,
        ...extra,
      },
      body: body ? [Buffer.from(JSON.stringify(body))] : [],
      stop: stop ? AbortSignal.any([timeout, stop]) : timeout,
      connectMs: callMs,
      tls: place.tls,
    };
    try {
      const { authorizer } = place;
      const headers = authorizer ? await authorizedHeaders(request, authorizer) : request.headers;
      const response = await this.#options.transport({ ...request, headers });
      const bytes = await readAll(response, mostBytes);
      const reply = this.#read(response, bytes, body?.["stream"] === true);
      return { reply, ...(response.status === 429 && { retryMs: pauseOf(response.headers) }) };
    } catch (thrown) {
      if (stop?.aborted) throw stop.reason;
      const cause = thrown instanceof GatewayError ? thrown.cause : thrown;
      const reason = reasonOf(cause);
      const silent = timeout.aborted ? `did not answer within ${callMs / 1000} s` : undefined;
      const words = silent ?? (reason ? describeReason(reason) : "broke the connection");
      return { reply: { kind: "failed", words } };
    }
  }

  #read({ status, headers }: UpstreamResponse, bytes: Uint8Array, streams: boolean): Reply {
    const isStream = streams && /event-stream/i.test(headers.get("content-type") ?? "");
    const text = Buffer.from(bytes).toString();
    const body = parseJson(text);
    const isError = status >= 400 || (isObject(body) && body["error"] != null && !("choices" in body));
    if (isError) {
      const words = `${status >= 400 ? `${status}: ` : ""}${this.quote(errorWords(body, text))}`;
      const kind = isAboutRequest(status) ? "refused" : "failed";
      return { kind, status, words, body, headers };
    }
    if (isStream) {
      const seen = streamIn(bytes);
      if (seen) return { kind: "answer", ...seen, headers };
    }
    const answer = answerIn(body);
    return answer ? { kind: "answer", answer, headers } : { kind: "other", status, body, text, headers };
  }

  /** A text of the host as evidence: one line, cut, without credentials. */
  quote(text: string): string {
    const { credentials, authorizer } = this.place;
    const secrets = [
      ...Object.values(credentials).map((value) => value.replace(/^Bearer /, "")),
      ...(authorizer?.concealed ?? []),
    ];
    const clean = secrets.reduce(
      (left, secret) => (secret === "" ? left : left.replaceAll(secret, "***")),
      text,
    );
    return printable(limitText(withoutKeys(clean.replace(/\s+/g, " ").trim()), QUOTED));
  }
}

/** Statuses that are about the request itself. Others are about the caller, the load, or the host. */
function isAboutRequest(status: number): boolean {
  return status < 500 ? ![401, 402, 403, 408, 409, 425, 429].includes(status) : status === 501;
}

/** The sentence of an error, in any of the shapes that hosts use. */
function errorWords(body: Json | undefined, text: string): string {
  if (!isObject(body)) return text;
  const { error, message, detail } = body;
  const inner = isObject(error) ? (error["message"] ?? error["type"]) : error;
  const found = [inner, message, detail].find((one) => one != null);
  return typeof found === "string" ? found : JSON.stringify(found ?? body);
}

/** `retry-after-ms` or `retry-after` in seconds; without them one second. Milliseconds. */
function pauseOf(headers: HeaderReader): number {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (exact >= 0) return exact;
  const seconds = Number(headers.get("retry-after") ?? 1);
  return seconds >= 0 ? seconds * 1000 : 1000;
}

async function readAll({ body }: UpstreamResponse, mostBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  for (let piece = await reader?.read(); reader && piece?.value; piece = await reader.read()) {
    chunks.push(piece.value);
    size += piece.value.length;
    if (size <= mostBytes) continue;
    await reader.cancel();
    break;
  }
  return Buffer.concat(chunks);
}
