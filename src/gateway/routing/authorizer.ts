/** Runs the `authorize` of a provider for one deployment, and holds what the plugin keeps and conceals. */
import { GatewayError } from "../../core/error.ts";
import type { Authorizer, OutgoingRequest, Place, PlaceAnswer, PlaceRequest } from "../../core/place.ts";
import type { Provider } from "../../core/provider.ts";
import type { Secret } from "../../core/secret.ts";
import type { Stoppable } from "../../core/stop.ts";
import { createTransport } from "../../http/index.ts";
import type { UpstreamRequest } from "../lanes/transport.ts";
import { HttpError } from "../lanes/transport.ts";

/** Tokens are rarely fetched: a connection that is kept would only keep commands such as `weir check` from ending. */
const transport = createTransport(process.env, { idleMs: 1 });
const directTransport = createTransport({}, { idleMs: 1 });
/** Maximum time for a request of a plugin, for example to a token endpoint. Milliseconds. */
const FETCH_MS = 10_000;
/** Maximum time for the headers of a request that is only explained. Milliseconds. */
const PREVIEW_MS = 2000;
/** Maximum length of its answer. Bytes. */
const MAX_ANSWER = 1024 * 1024;
/** A larger difference to the host's clock is corrected. AWS refuses signatures that are five minutes off. Milliseconds. */
const MAX_SKEW_MS = 60_000;
/** A host that also refuses new tokens must not cause a request for a token with every call. Milliseconds. */
const RENEW_MS = 10_000;
/** Maximum number of concealed values; a new one replaces the oldest. Tokens of calls that still run must be among them. */
const MAX_CONCEALED = 64;
/** Headers that follow from the URL and the body; another value would break the request. */
const OWN_HEADERS = new Set(["host", "content-length", "transfer-encoding", "connection"]);

export interface AuthorizerOptions {
  /** Name of the deployment. */
  name: string;
  variables: Readonly<Record<string, string>>;
  env: Readonly<Record<string, string | undefined>>;
  secrets: ReadonlyMap<string, Secret>;
}

export class ProviderAuthorizer implements Authorizer {
  generation = 0;
  concealed: readonly string[];
  readonly #provider: Provider;
  readonly #place: Place;
  /** How much the host's clock is ahead of this machine's. Milliseconds. */
  #skewMs = 0;
  /** The plugin's state is not emptied again before this time; monotonic milliseconds. */
  #renewableAt = 0;
  /** Concealed values that are not credentials, the oldest first. */
  #tokens: readonly string[] = [];

  constructor(provider: Provider, { name, variables, env, secrets }: AuthorizerOptions) {
    this.#provider = provider;
    const credentials = [...secrets.values()].map((secret) => secret.reveal());
    this.concealed = credentials;
    this.#place = Object.freeze({
      name,
      variables,
      env,
      secret: (wanted: string) => secrets.get(wanted)?.reveal(),
      conceal: (value: string) => {
        if (credentials.includes(value) || this.#tokens.includes(value)) return;
        this.#tokens = [...this.#tokens, value].slice(-MAX_CONCEALED);
        this.concealed = [...credentials, ...this.#tokens];
      },
      kept: new Map<string, unknown>(),
      fetch: fetchForPlugin,
      now: () => Date.now() + this.#skewMs,
    });
  }

  async authorize(request: OutgoingRequest, stop: Stoppable): Promise<Readonly<Record<string, string>>> {
    try {
      const pending = this.#provider.authorize!(request, this.#place);
      return this.#checked(pending instanceof Promise ? await unlessStopped(pending, stop) : pending);
    } catch (cause) {
      if (stop.aborted) throw stop.reason;
      if (cause instanceof GatewayError)
        throw cause.cause === undefined ? cause.with({ cause: notSent(cause) }) : cause;
      throw new GatewayError(
        "upstream",
        `The gateway could not authorize its request to ${this.#provider.name}; its log has the details.`,
        { code: "upstream_authorization", cause: notSent(cause) },
      );
    }
  }

  async preview(request: OutgoingRequest): Promise<readonly string[]> {
    const place: Place = {
      ...this.#place,
      kept: new Map(this.#place.kept),
      fetch: () => Promise.reject(new Error("explain sends nothing.")),
    };
    try {
      const pending = Promise.resolve(this.#provider.authorize!(request, place));
      return Object.keys(this.#checked(await unlessStopped(pending, AbortSignal.timeout(PREVIEW_MS)))).sort();
    } catch {
      return [];
    }
  }

  /** @throws Error if the plugin returned something else than headers */
  #checked(given: unknown): Record<string, string> {
    if (typeof given !== "object" || given === null) throw new Error("authorize returned no headers.");
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(given)) {
      const lower = name.toLowerCase();
      if (typeof value !== "string") throw new Error(`authorize returned no text for the header ${lower}.`);
      if (OWN_HEADERS.has(lower)) throw new Error(`authorize cannot set the header ${lower}.`);
      headers[lower] = value;
    }
    const token = /^Bearer (.+)$/i.exec(headers["authorization"] ?? "")?.[1];
    if (token !== undefined) this.#place.conceal(token);
    return headers;
  }

  renew(generation: number, date: string | null): boolean {
    if (generation !== this.generation) return true;
    const now = performance.now();
    const isClockWrong = this.#correctClock(date);
    if (!isClockWrong && (this.#place.kept.size === 0 || now < this.#renewableAt)) return false;
    this.#renewableAt = now + RENEW_MS;
    this.#place.kept.clear();
    this.generation++;
    return true;
  }

  /** Adopts the time of the host if it differs. */
  #correctClock(date: string | null): boolean {
    const skew = Date.parse(date ?? "") - this.#place.now();
    if (!(Math.abs(skew) > MAX_SKEW_MS)) return false;
    this.#skewMs += skew;
    return true;
  }
}

/**
 * The headers of a request, with those that authorize it.
 * @throws as {@link Authorizer.authorize}
 */
export async function authorizedHeaders(
  { method = "POST", url, headers, body, stop }: UpstreamRequest,
  authorizer: Authorizer,
): Promise<Record<string, string>> {
  const request = { method, url: new URL(url), headers, body };
  return { ...headers, ...(await authorizer.authorize(request, stop)) };
}

/** An error of the time before the request was sent, so that weir may retry the call. */
function notSent(cause: unknown): HttpError {
  const message = cause instanceof Error ? cause.message : String(cause);
  const error = new HttpError("EAUTH", message, "connect", "authorization");
  if (cause instanceof Error) error.stack = cause.stack;
  return error;
}

/** The value of a promise. @throws the reason of `stop` if it aborts first */
function unlessStopped<Value>(pending: Promise<Value>, stop: Stoppable): Promise<Value> {
  if (stop.aborted) return Promise.reject(stop.reason);
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(stop.reason);
    stop.addEventListener("abort", onAbort);
    pending.then(resolve, reject).finally(() => stop.removeEventListener("abort", onAbort));
  });
}

async function fetchForPlugin(request: PlaceRequest): Promise<PlaceAnswer> {
  const { url, method, headers = {}, body, timeoutMs = FETCH_MS, direct = false } = request;
  const limitMs = Math.min(timeoutMs, FETCH_MS);
  const response = await (direct ? directTransport : transport)({
    method: method ?? (body === undefined ? "GET" : "POST"),
    url,
    headers: { "user-agent": "weir", accept: "application/json", ...headers },
    body: body === undefined ? [] : [Buffer.from(body)],
    stop: AbortSignal.timeout(limitMs),
    connectMs: limitMs,
    pool: "authorize",
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let piece = await reader?.read(); reader && piece?.value; piece = await reader.read()) {
    chunks.push(piece.value);
    size += piece.value.length;
    if (size <= MAX_ANSWER) continue;
    await reader.cancel();
    throw new Error(`The answer of ${new URL(url).host} is longer than ${MAX_ANSWER} bytes.`);
  }
  return { status: response.status, headers: response.headers, text: Buffer.concat(chunks).toString() };
}
