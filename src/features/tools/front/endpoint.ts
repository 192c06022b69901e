/** Requests to `/mcp` and `/mcp/{server}`: who asks, what is booked, and how the process of the tools is asked. */
import { ServiceError } from "../../../core/lines.ts";
import { GatewayError } from "../../../core/error.ts";
import { clientLeft } from "../../../gateway/delivery/stream.ts";
import type { Visit } from "../../../gateway/seams.ts";
import type { Caller, PostAsk } from "../asks.ts";
import { ENDPOINT, resourceOf } from "../auth/resources.ts";
import { eventText } from "../wire/events.ts";
import { CODE, errorText, McpError, type RequestId } from "../wire/messages.ts";
import { innerCall } from "../lean/lean.ts";
import type { ToolScreen } from "../../../core/tool-screen.ts";
import { screenedAsk, screenedPieces } from "./screened.ts";
import type { Access } from "./access.ts";
import { type AnswerOptions, answerWith } from "./answer.ts";
import { checkMessage, type Checked, MessageFault } from "./checks.ts";
import { isOriginAllowed } from "./origin.ts";
import type { OpenStreams } from "./open-streams.ts";
import type { TraceContext } from "../../../core/trace-context.ts";
import { traceOf } from "../wire/trace.ts";
import { type Sample, withSamples } from "../sampling/serve.ts";
import type { AskTools } from "./process.ts";

export interface EndpointOptions {
  readonly access: Access;
  /** What callers may use by the config that serves now. */
  current(): Access;
  readonly open: OpenStreams;
  readonly ask: AskTools;
  readonly bodyBytes: number;
  /** The merged list is lean: the books have the tool that `call_tool` calls. */
  readonly isLean: boolean;
  /** Origins of the section `cors`. */
  readonly origins: readonly string[];
  /** Books calls of tools. @returns the pieces of the answer */
  readonly book: Book;
}

/** Does a call of a tool as work of its caller. @throws GatewayError if a budget or limit refuses it */
export type Book = (
  call: {
    readonly visitor: Visitor;
    readonly name: string;
    readonly server: string | undefined;
    readonly bytes: number;
    /** Its trace. */
    readonly headers: Headers;
    /** What looks at it; undefined: nothing does. */
    readonly screen: ToolScreen | undefined;
  },
  run: (stop: AbortSignal, ended: AnswerOptions["ended"], beside?: Beside) => Promise<Response>,
) => Promise<Response>;

/** What a call of a tool has besides its message. */
export interface Beside {
  /** Answers its server; undefined: nothing does. */
  readonly sample: Sample | undefined;
  /** For its server; undefined: what the client sent. */
  readonly trace: TraceContext | undefined;
}

/** Who asks at an endpoint. */
export interface Visitor {
  readonly caller: Caller;
  readonly principal: Awaited<ReturnType<Visit["caller"]>>;
  /** Name of the server in the path; undefined: all. */
  readonly server: string | undefined;
}

type Handle = (request: Request, visit: Visit) => Promise<Response>;

/** What ends a request, and how it ended. */
interface Run extends Pick<AnswerOptions, "ended">, Partial<Beside> {
  readonly stop: AbortSignal | undefined;
  readonly screened?: { readonly screen: ToolScreen; readonly name: string } | undefined;
}

/** What `/mcp` and `/mcp/{server}` answer. */
export class Endpoint {
  readonly #options: EndpointOptions;

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  /** A message. */
  readonly post: Handle = (request, visit) =>
    this.#answered(request, visit, (visitor) => this.#post(request, visit, visitor));

  /** The stream of a session. */
  readonly stream: Handle = (request, visit) =>
    this.#answered(request, visit, (visitor) => this.#stream(request, visit, visitor));

  /** The end of a session. */
  readonly end: Handle = (request, visit) =>
    this.#answered(request, visit, (visitor) => this.#end(request, visitor));

  async #answered(
    request: Request,
    visit: Visit,
    work: (visitor: Visitor) => Promise<Response>,
  ): Promise<Response> {
    try {
      if (!isOriginAllowed(request, this.#options.origins))
        return refusal(
          403,
          new McpError(CODE.request, "weir serves no tools to pages of this origin; list it in cors.origins"),
        );
      const server = serverIn(request);
      const principal = await visit.caller(ENDPOINT, resourceOf(server));
      const caller = this.#options.access.bringing(principal, request.headers);
      // A server that does not exist and one that is not allowed look alike.
      if (server !== undefined && !caller.servers.includes(server))
        return refusal(
          404,
          new McpError(CODE.request, `There is no tools server ${server.slice(0, 40)} here.`),
        );
      return await work({ caller, principal, server });
    } catch (thrown) {
      return challenged(failure(thrown), thrown);
    }
  }

  async #post(request: Request, visit: Visit, visitor: Visitor): Promise<Response> {
    const checked = checkMessage(await visit.body(this.#options.bodyBytes), request.headers);
    visit.allowSilence();
    const ask = postAsk(checked, visitor, request.headers);
    const { arguments: args } = checked.params;
    const inner = this.#options.isLean && visitor.server === undefined;
    const { name } = (inner && innerCall(checked.params["name"], args)) || checked.params;
    const isCall = checked.method === "tools/call" && checked.id !== undefined && typeof name === "string";
    const screen = isCall ? await visit.screenTools(visitor.principal) : undefined;
    const run = async (stop: AbortSignal | undefined, ended: AnswerOptions["ended"], beside?: Beside) => {
      const screened = screen && { screen, name: String(name) };
      const message = screened ? await screenedAsk(ask, checked, screened.name, screened.screen) : ask;
      return this.#run(request, message, checked, { stop, ended, ...beside, screened });
    };
    try {
      if (checked.method === "subscriptions/listen") {
        const { stop, ended } = this.#watched(request, visit, visitor);
        return await run(stop, ended);
      }
      if (!isCall) return await run(undefined, () => {});
      return await this.#options.book(
        {
          visitor,
          name,
          server: visitor.server,
          bytes: checked.text.length,
          headers: traceOf(checked.params, request.headers),
          screen,
        },
        run,
      );
    } catch (thrown) {
      throw faultOf(thrown, checked);
    }
  }

  #stream(request: Request, visit: Visit, { caller, server }: Visitor): Promise<Response> {
    const session = request.headers.get("mcp-session-id");
    if (session === null) return Promise.resolve(notAllowed());
    const lastEventId = request.headers.get("last-event-id");
    visit.allowSilence();
    const ask = {
      ...{ kind: "stream" as const, caller, session },
      ...(server !== undefined && { server }),
      ...(lastEventId !== null && { lastEventId }),
    };
    const stopping = new AbortController();
    const left = () => stopping.abort(clientLeft());
    const { stop, ended } = this.#watched(request, visit, { caller, server });
    stop.addEventListener("abort", () => stopping.abort(stop.reason), { once: true });
    return answerWith(this.#options.ask(ask, stopping.signal), { ended, left, readsOn: false });
  }

  /** A stream that ends when its caller may not have it any more. */
  #watched(request: Request, visit: Visit, { caller, server }: Pick<Visitor, "caller" | "server">) {
    const stopping = new AbortController();
    const ended = this.#options.open.add({
      caller,
      look: async () => {
        const principal = await visit.caller(ENDPOINT, resourceOf(server));
        return this.#options.current().bringing(principal, request.headers);
      },
      end: (reason) => stopping.abort(reason),
    });
    return { stop: stopping.signal, ended };
  }

  async #end(request: Request, { caller, server }: Visitor): Promise<Response> {
    const session = request.headers.get("mcp-session-id");
    if (session === null) return notAllowed();
    const ask = { kind: "end" as const, caller, session, ...(server !== undefined && { server }) };
    const pieces = this.#options.ask(ask);
    return answerWith(pieces, { ended: () => {}, left: () => {}, readsOn: true });
  }

  #run(
    request: Request,
    ask: PostAsk,
    { id, isModern }: Checked,
    { stop, ended, sample, trace, screened }: Run,
  ): Promise<Response> {
    const stopping = new AbortController();
    // A legacy client that has gone may read its answer on; a modern one has cancelled by that.
    const left = () => isModern && stopping.abort(clientLeft());
    request.signal.addEventListener("abort", left, { once: true });
    const end = () => stopping.abort(stop?.reason);
    stop?.addEventListener("abort", end, { once: true });
    const finish: AnswerOptions["ended"] = (outcome, bytes, cause) => {
      request.signal.removeEventListener("abort", left);
      stop?.removeEventListener("abort", end);
      ended(outcome, bytes, cause);
    };
    const message = trace ? { ...ask, trace } : ask;
    const pieces = withSamples(this.#options.ask, message, stopping.signal, sample);
    const passed = screened ? screenedPieces(pieces, screened.name, screened.screen) : pieces;
    return answerWith(passed, {
      ended: finish,
      left,
      readsOn: !isModern,
      failed: (thrown) => eventText(errorText(errorOf(thrown).rpc, id, isModern)),
    });
  }
}

function postAsk({ text, isModern }: Checked, { caller, server }: Visitor, headers: Headers): PostAsk {
  const session = headers.get("mcp-session-id");
  const params = isModern ? paramHeadersIn(headers) : {};
  return {
    ...{ kind: "post", caller, text, isModern },
    ...(server !== undefined && { server }),
    ...(session !== null && { session }),
    ...(prefersStream(headers) && { prefersStream: true as const }),
    ...(Object.keys(params).length > 0 && { params }),
  };
}

function prefersStream(headers: Headers): boolean {
  const accept = headers.get("accept") ?? "";
  const stream = accept.indexOf("text/event-stream");
  const json = accept.indexOf("application/json");
  return stream >= 0 && (json < 0 || stream < json);
}

function paramHeadersIn(headers: Headers): Record<string, string> {
  const found: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (name.startsWith("mcp-param-")) found[name] = value;
  });
  return found;
}

/** The server in the path of the request. */
function serverIn({ url }: Request): string | undefined {
  const [, name] = /^\/mcp\/([^/]+)$/.exec(new URL(url).pathname) ?? [];
  return name === undefined ? undefined : decodeURIComponent(name);
}

/** The fault with the id of its request. */
function faultOf(thrown: unknown, { id, isModern }: Checked): MessageFault {
  if (thrown instanceof MessageFault) return thrown;
  return new MessageFault(errorOf(thrown), { id, isModern });
}

function errorOf(thrown: unknown): McpError {
  if (thrown instanceof McpError) return thrown;
  if (thrown instanceof ServiceError)
    return new McpError(
      CODE.cut,
      "the process of the tools ended before it had answered; the tool may have acted",
    );
  const { kind, status, message, code, retryAfter } = GatewayError.from(thrown);
  const isLimit = kind === "rate-limited" || kind === "overloaded" || status === 402 || status === 429;
  return new McpError(isLimit ? CODE.limit : CODE.request, message, {
    status,
    data: { ...(code !== undefined && { code }), ...(retryAfter !== undefined && { retryAfter }) },
  });
}

export function failure(thrown: unknown): Response {
  if (thrown instanceof MessageFault) return refusal(thrown.error.status, thrown.error, thrown);
  return refusal(errorOf(thrown).status, errorOf(thrown));
}

/** Tells programs what credential they need. */
function challenged(response: Response, thrown: unknown): Response {
  const challenge = thrown instanceof GatewayError ? thrown.headers?.["www-authenticate"] : undefined;
  if (challenge !== undefined) response.headers.set("www-authenticate", challenge);
  return response;
}

function refusal(
  status: number,
  error: McpError,
  of: { id?: RequestId | undefined; isModern: boolean } = { isModern: false },
): Response {
  const retryAfter = (error.data as { retryAfter?: number } | undefined)?.retryAfter;
  return new Response(errorText(error.rpc, of.id, of.isModern), {
    status: of.id !== undefined && !of.isModern && status === 200 ? 200 : status,
    headers: {
      "content-type": "application/json",
      ...(retryAfter !== undefined && { "retry-after": String(Math.ceil(retryAfter)) }),
    },
  });
}

function notAllowed(): Response {
  return new Response(null, { status: 405, headers: { allow: "POST, DELETE" } });
}
