/** The generating routes: one handler for each client format. */
import { Call, type CallRoute } from "../../core/call.ts";
import type { EmbedClient } from "../../core/embed-dialect.ts";
import type { ClientCodec, Format } from "../../core/format.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Principal } from "../../core/principal.ts";
import { prepareCall } from "../../gateway/access.ts";
import { modelAsked, streamAsked, withModelSettings } from "../../gateway/asked.ts";
import { Deadline } from "../../gateway/delivery/deadline.ts";
import { deliver } from "../../gateway/delivery/deliver.ts";
import { toClientError } from "../../gateway/delivery/redact.ts";
import { clientLeft } from "../../gateway/delivery/stream.ts";
import { countTokens } from "../../gateway/count-tokens.ts";
import { embed } from "../../gateway/embed/embed.ts";
import type { Opened, OpenedReceiver } from "../../gateway/lanes/lane.ts";
import { tell } from "../../gateway/lanes/receive.ts";
import { enter, enterTo } from "../../gateway/life.ts";
import type { Edited, EntryOperation, InnerCall, Life } from "../../gateway/seams.ts";
import type { Gateway, Incoming } from "../../gateway/types.ts";
import { exchangeTo } from "../../gateway/pipeline.ts";
import type { Admission } from "../admission.ts";
import type { Authenticate } from "../authenticate.ts";
import { assertScope } from "../key-scope.ts";
import { type BodyLimits, readBody, readBodyTo } from "../read-body.ts";
import { RequestBody, type RequestPart } from "../request-body.ts";
import { createRequestId, openError, respond } from "../respond.ts";
import { addressCall, modelInPath, withModelOfPath } from "../url-address.ts";
import { findModel } from "./models.ts";
import { arrivalOf, entryOf, incomingOf } from "./incoming.ts";
import { withSession } from "./with-session.ts";

export interface RouteContext {
  gateway: Gateway;
  limits: BodyLimits;
  authenticate: Authenticate;
  admission: Admission;
  /** The seams of features and plugins for the config that serves. */
  life: Life;
  /** The call that a part of weir makes with a request; undefined: a client does. */
  inner?(request: Request): InnerCall | undefined;
  /** The client's address. */
  address(request: Request): string;
  /** Turns the idle timeout of a running request's connection off or on. */
  allowSilence(request: Request, allowed: boolean): void;
  /** Closes the connection of a running request within seconds, without a regular end of its answer. */
  disconnect(request: Request): void;
}

/** Answers a request that weir has read and validated. */
type Handler = (incoming: Incoming, gateway: Gateway, deadline: Deadline, receiver: OpenedReceiver) => void;

/** Counts the tokens of a request. A body that lacks what only an answer needs is valid. */
export function countRoute(format: Format & { client: ClientCodec }, context: RouteContext) {
  const { path } = format.client.routes;
  const { count } = format.client.beside;
  const handle: Handler = (incoming, gateway, _, receiver) => tell(countTokens(incoming, gateway), receiver);
  return createRoute(format, context, count, handle, {
    operation: "count",
    endpoint: "count",
    path: count?.path ?? path,
  });
}

export function generateRoute(format: Format & { client: ClientCodec }, context: RouteContext) {
  return createRoute(format, context, undefined, exchangeTo, { path: format.client.routes.path });
}

/** Generates a stream, where the path asks for one. */
export function streamRoute(format: Format & { client: ClientCodec }, context: RouteContext) {
  return createRoute(format, context, undefined, exchangeTo, {
    streams: true,
    path: format.client.routes.address?.stream ?? format.client.routes.path,
  });
}

/** Replaces a conversation by a summary, on the route for that alone. */
export function compactRoute(format: Format & { client: ClientCodec }, context: RouteContext) {
  const { below, path } = format.client.beside.compaction!;
  const compact: Handler = (incoming, gateway, deadline, receiver) => {
    incoming.call.stream = false;
    incoming.below = below;
    exchangeTo(incoming, gateway, deadline, receiver);
  };
  return createRoute(format, context, { implied: {} }, compact, { path, operation: "compact" });
}

/** Embeds. The call has the client's dialect as its format. */
export function embedRoute(
  { client }: Format & { client: ClientCodec },
  codec: EmbedClient,
  context: RouteContext,
) {
  const { gateway, limits, life } = context;
  const { address } = client.routes;
  const modelOf = modelInPath(client.routes);
  const opening = async (call: Call, request: Request, deadline: Deadline) => {
    if (address) addressCall(call, address, request, false);
    const read = await readBody(request, limits, gateway.clock, client.request);
    const body = withModelOfPath(read, modelOf?.(request.url), limits.depth);
    body.validate({ checkRequest: (parsed) => codec.checkRequest(parsed) });
    if (!address) call.model = modelAsked(body.scalar("model") as string, client.routes, gateway.registry);
    const incoming = withSession({
      call,
      format: { id: codec.dialect, client },
      bytes: body.bytes,
      body: body.json,
      spanOf: (name: string) => body.spanOf(name),
    });
    const open = async ({ body: json, bytes, spanOf }: Edited = incoming) => {
      const preparing = prepareCall(call, gateway.registry);
      if (preparing) await preparing;
      const wanted = codec.decodeRequest(address ? { ...json, model: call.model } : json);
      return embed({ call, client: codec, request: wanted, bytes, spanOf }, gateway);
    };
    const entering = () => entryOf(incoming, EMBEDDINGS, arrivalOf(request, call, client, context), gateway);
    return enter(life, deadline, entering, open);
  };
  const serve: Serve = (call, request, deadline, receiver) =>
    tell(opening(call, request, deadline), receiver);
  const route: CallRoute = { method: "POST", path: codec.path, operation: EMBEDDINGS };
  return callRoute({ id: codec.dialect, client }, context, serve, route, EMBEDDINGS);
}

/** The name of embeddings in the scope of keys. */
const EMBEDDINGS = "embeddings";

/**
 * The route of one client format. It checks the key and the limits before it reads a byte of the body.
 * @param options `path`: pattern of the path; `streams`: the path asks for a stream, for formats whose body does not say it;
 * `endpoint`: as in {@link callRoute}; `operation`: default `generate`
 */
function createRoute(
  format: Format & { client: ClientCodec },
  context: RouteContext,
  part: RequestPart | undefined,
  handle: Handler,
  options: { path: string; streams?: boolean; endpoint?: string; operation?: EntryOperation },
) {
  const { gateway, limits, life } = context;
  const { operation = "generate" } = options;
  const { address } = format.client.routes;
  const modelOf = modelInPath(format.client.routes);
  const open = (entered: Incoming, deadline: Deadline, receiver: OpenedReceiver) => {
    const goOn = () => handle(withModelSettings(entered, gateway.registry), gateway, deadline, receiver);
    try {
      const preparing = prepareCall(entered.call, gateway.registry);
      if (preparing) preparing.then(goOn).catch((thrown: unknown) => receiver.failed(thrown));
      else goOn();
    } catch (thrown) {
      receiver.failed(thrown);
    }
  };
  const validated = (read: RequestBody, call: Call, request: Request): RequestBody => {
    const body = withModelOfPath(read, modelOf?.(request.url), limits.depth);
    body.validate(format.client.request, part);
    if (!address) {
      call.model = modelAsked(body.scalar("model") as string, format.client.routes, gateway.registry);
      call.stream = streamAsked(body.scalar("stream"), format.client.request);
    }
    return body;
  };
  const answer = (body: RequestBody, { call, request, deadline }: Asking, receiver: OpenedReceiver) => {
    const local = format.client.request.idle?.answer(body.json);
    if (local) return tell(answerLocally(local, call, gateway), receiver);
    const incoming = withSession(incomingOf(body, call, format));
    const arrival = () => arrivalOf(request, call, format.client, context);
    const entering = () => entryOf(incoming, operation, arrival(), gateway);
    enterTo(life, deadline, entering, (entry, inner) => open(entry ?? incoming, deadline, inner), receiver);
  };
  const serve: Serve = (call, request, deadline, receiver) => {
    if (address) addressCall(call, address, request, options.streams ?? false);
    const asking = { call, request, deadline };
    readBodyTo(request, limits, gateway.clock, format.client.request, {
      body(read) {
        try {
          const body = validated(read, call, request);
          const resolving = life.resolves?.({ call, bytes: body.bytes, client: format.client });
          if (!resolving) return answer(body, asking, receiver);
          withResolved(body, resolving, limits.depth)
            .then((whole) => answer(whole, asking, receiver))
            .catch((thrown: unknown) => receiver.failed(thrown));
        } catch (thrown) {
          receiver.failed(thrown);
        }
      },
      failed: (thrown) => receiver.failed(thrown),
    });
  };
  const route: CallRoute = { method: "POST", path: options.path, operation: "chat" };
  return callRoute(format, context, serve, route, options.endpoint);
}

/** The body with what it names. @param resolving its bytes; the same ones for a body that names nothing */
async function withResolved(body: RequestBody, resolving: Promise<Uint8Array>, maxDepth: number) {
  const bytes = await resolving;
  return bytes === body.bytes ? body : new RequestBody(bytes, maxDepth);
}

/** Answers a request that wants nothing of a model. @throws GatewayError `not-found`, `permission` for the model */
async function answerLocally(answer: JsonObject, call: Call, { catalog }: Gateway): Promise<Opened> {
  await findModel(catalog, call.model, call.principal);
  const headers = { "content-type": "application/json" };
  return { kind: "json", status: 200, headers, body: JSON.stringify(answer) };
}

/** A call on its way to the gateway. */
interface Asking {
  call: Call;
  request: Request;
  deadline: Deadline;
}

/** Finds the answer to one call, and tells it to the receiver. @throws GatewayError before it has told anything */
export type Serve = (call: Call, request: Request, deadline: Deadline, receiver: OpenedReceiver) => void;

interface Served {
  format: Format & { client: ClientCodec };
  context: RouteContext;
  serve: Serve;
  route: CallRoute;
  /** Its name in the scope `endpoints` of keys. */
  endpoint: string;
}

/**
 * A route whose requests are calls: they need a key, occupy a place among the calls in flight, and are logged. It checks the key and
 * the limits before `serve` reads a byte of the body.
 * @param endpoint default: id of the format
 */
export function callRoute(
  format: Served["format"],
  context: RouteContext,
  serve: Serve,
  route: CallRoute,
  endpoint = format.id,
) {
  const served: Served = { format, context, serve, route, endpoint };
  return (request: Request): Promise<Response> =>
    new Promise((resolve, reject) => new Serving(request, served, resolve, reject).begin());
}

/** A client's request, until its response begins. */
class Serving implements OpenedReceiver {
  readonly #request: Request;
  readonly #served: Served;
  readonly #call: Call;
  readonly #deadline: Deadline;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (thrown: unknown) => void;
  /** Who occupies a place. */
  #client: string | undefined;

  constructor(
    request: Request,
    served: Served,
    resolve: (response: Response) => void,
    reject: (thrown: unknown) => void,
  ) {
    const { format, context, route } = served;
    const { gateway, allowSilence } = context;
    const call = new Call(createRequestId(), format.id, request.headers);
    const deadline = new Deadline(call, gateway.clock, gateway.timeouts);
    call.route = route;
    call.disconnect = () => context.disconnect(request);
    deadline.onLong = () => allowSilence(request, true);
    call.release = () => {
      deadline.stop();
      if (deadline.isLong) allowSilence(request, false);
      this.#leave();
    };
    request.signal.addEventListener("abort", this);
    this.#request = request;
    this.#served = served;
    this.#call = call;
    this.#deadline = deadline;
    this.#resolve = resolve;
    this.#reject = reject;
    // A client that left while its request waited for its turn is not reported to a later listener.
    if (request.signal.aborted) this.handleEvent();
  }

  begin(): void {
    const { context, format } = this.#served;
    try {
      const inner = context.inner?.(this.#request);
      if (inner) return this.#admit(inner.principal, inner);
      const found = context.authenticate(this.#request, format.client.routes);
      if (!(found instanceof Promise)) return this.#admit(found);
      found.then((principal) => this.#admit(principal)).catch((thrown: unknown) => this.failed(thrown));
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  #admit(principal: Principal | undefined, inner?: InnerCall): void {
    const { context, endpoint, serve } = this.#served;
    const { admission } = context;
    const call = this.#call;
    if (principal) {
      call.principal = principal;
      assertScope(principal, endpoint, () => context.address(this.#request));
    }
    inner?.begins(call);
    if ((!inner || inner.occupies) && admission.isLimited)
      this.#client = admission.enter(call.principal?.id ?? context.address(this.#request));
    serve(call, this.#request, this.#deadline, this);
  }

  opened(opened: Opened): void {
    try {
      this.#resolve(this.#respond(opened));
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  failed(thrown: unknown): void {
    const { context, format } = this.#served;
    const call = this.#call;
    try {
      const error = toClientError(call.abortReason ?? thrown, call);
      const told = context.life.told?.error(call, error) ?? error;
      const refusal = { ...openError(told, format.client, call.id), error };
      context.life.refused?.(arrivalOf(this.#request, call, format.client, context), refusal.status);
      this.#resolve(this.#respond(refusal));
    } catch (fault) {
      this.#reject(fault);
    }
  }

  #respond(opened: Opened): Response {
    const { format, context } = this.#served;
    const call = this.#call;
    const answer = deliver(opened, call, format.client, context.gateway);
    const headers = context.life.told?.headers(call, answer.headers) ?? answer.headers;
    return respond(headers === answer.headers ? answer : { ...answer, headers }, call.id);
  }

  /** The client's connection is closed. */
  handleEvent(): void {
    const call = this.#call;
    if (call.leave()) this.#leave();
    else if (!call.outcome) call.abort(clientLeft());
  }

  #leave(): void {
    if (this.#client !== undefined) this.#served.context.admission.leave(this.#client);
    this.#client = undefined;
  }
}
