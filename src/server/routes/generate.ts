/** The generating routes: one handler for each client format. */
import { Call, type CallRoute } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { EmbedClient } from "../../core/embed-dialect.ts";
import type { ClientCodec, Format } from "../../core/format.ts";
import type { JsonObject } from "../../core/json.ts";
import { prepareModel } from "../../gateway/access.ts";
import { modelAsked, streamAsked, withModelSettings } from "../../gateway/asked.ts";
import { clientLeft } from "../../gateway/delivery/stream.ts";
import { toClientError } from "../../gateway/delivery/redact.ts";
import { deliver } from "../../gateway/delivery/deliver.ts";
import { Deadline } from "../../gateway/delivery/deadline.ts";
import { countTokens } from "../../gateway/count-tokens.ts";
import { embed } from "../../gateway/embed/embed.ts";
import type { Opened } from "../../gateway/lanes/lane.ts";
import { enter } from "../../gateway/life.ts";
import { type Arrival, type Edited, Entry, type EntryOperation, type Life } from "../../gateway/seams.ts";
import type { Gateway, Incoming } from "../../gateway/types.ts";
import { exchange } from "../../gateway/pipeline.ts";
import type { Admission } from "../admission.ts";
import type { Authenticate } from "../authenticate.ts";
import { assertScope } from "../key-scope.ts";
import type { BodyLimits } from "../read-body.ts";
import { readBody } from "../read-body.ts";
import type { RequestBody, RequestPart } from "../request-body.ts";
import { findModel } from "./models.ts";
import { createRequestId, openError, respond } from "../respond.ts";
import { addressCall, modelInPath, withAddress, withModelOfPath } from "../url-address.ts";

export interface RouteContext {
  gateway: Gateway;
  limits: BodyLimits;
  authenticate: Authenticate;
  admission: Admission;
  /** The seams of features and plugins for the config that serves. */
  life: Life;
  /** The client's address. */
  address(request: Request): string;
  /** Turns the idle timeout of a running request's connection off or on. */
  allowSilence(request: Request, allowed: boolean): void;
  /** Closes the connection of a running request within seconds, without a regular end of its answer. */
  disconnect(request: Request): void;
}

/** Answers a request that weir has read and validated. */
type Handler = (incoming: Incoming, gateway: Gateway, deadline: Deadline) => Promise<Opened>;

/** Counts the tokens of a request. A body that lacks what only an answer needs is valid. */
export function countRoute(format: Format & { client: ClientCodec }, context: RouteContext) {
  const { path } = format.client.routes;
  const { count } = format.client.beside;
  return createRoute(format, context, count, countTokens, {
    operation: "count",
    endpoint: "count",
    path: count?.path ?? path,
  });
}

export function generateRoute(format: Format & { client: ClientCodec }, context: RouteContext) {
  return createRoute(format, context, undefined, exchange, { path: format.client.routes.path });
}

/** Generates a stream, where the path asks for one. */
export function streamRoute(format: Format & { client: ClientCodec }, context: RouteContext) {
  return createRoute(format, context, undefined, exchange, {
    streams: true,
    path: format.client.routes.address?.stream ?? format.client.routes.path,
  });
}

/** Replaces a conversation by a summary, on the route for that alone. */
export function compactRoute(format: Format & { client: ClientCodec }, context: RouteContext) {
  const { below, path } = format.client.beside.compaction!;
  const compact: Handler = (incoming, gateway, deadline) => {
    incoming.call.stream = false;
    incoming.below = below;
    return exchange(incoming, gateway, deadline);
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
  const serve: Serve = async (call, request, deadline) => {
    if (address) addressCall(call, address, request, false);
    const read = await readBody(request, limits, gateway.clock, client.request);
    const body = withModelOfPath(read, modelOf?.(request.url), limits.depth);
    body.validate({ checkRequest: (parsed) => codec.checkRequest(parsed) });
    if (!address) call.model = modelAsked(body.scalar("model") as string, client.routes, gateway.registry);
    const incoming = {
      call,
      format: { id: codec.dialect, client },
      bytes: body.bytes,
      body: body.json,
      spanOf: (name: string) => body.spanOf(name),
    };
    const open = async ({ body: json, bytes, spanOf }: Edited = incoming) => {
      const preparing = prepareModel(call, call.model, gateway.registry);
      if (preparing) await preparing;
      const wanted = codec.decodeRequest(address ? { ...json, model: call.model } : json);
      return embed({ call, client: codec, request: wanted, bytes, spanOf }, gateway);
    };
    const arrival = () => arrivalOf(request, call, client, context);
    const entering = () => entryOf(incoming, EMBEDDINGS, arrival(), gateway);
    return enter(life, deadline, entering, open);
  };
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
  const serve: Serve = async (call, request, deadline) => {
    if (address) addressCall(call, address, request, options.streams ?? false);
    const read = await readBody(request, limits, gateway.clock, format.client.request);
    const body = withModelOfPath(read, modelOf?.(request.url), limits.depth);
    body.validate(format.client.request, part);
    if (!address) {
      call.model = modelAsked(body.scalar("model") as string, format.client.routes, gateway.registry);
      call.stream = streamAsked(body.scalar("stream"), format.client.request);
    }
    const local = format.client.request.idle?.answer(body.json);
    if (local) return answerLocally(local, call, gateway);
    const incoming = incomingOf(body, call, format);
    const open = async (entered: Incoming = incoming) => {
      const preparing = prepareModel(call, call.model, gateway.registry);
      if (preparing) await preparing;
      return handle(withModelSettings(entered, gateway.registry), gateway, deadline);
    };
    const arrival = () => arrivalOf(request, call, format.client, context);
    return enter(life, deadline, () => entryOf(incoming, operation, arrival(), gateway), open);
  };
  const route: CallRoute = { method: "POST", path: options.path, operation: "chat" };
  return callRoute(format, context, serve, route, options.endpoint);
}

/** Answers a request that wants nothing of a model. @throws GatewayError `not-found`, `permission` for the model */
async function answerLocally(answer: JsonObject, call: Call, { catalog }: Gateway): Promise<Opened> {
  await findModel(catalog, call.model, call.principal);
  const headers = { "content-type": "application/json" };
  return { kind: "json", status: 200, headers, body: JSON.stringify(answer) };
}

/** Answers one call. */
type Serve = (call: Call, request: Request, deadline: Deadline) => Promise<Opened>;

/**
 * A route whose requests are calls: they need a key, occupy a place among the calls in flight, and are logged.
 * @param endpoint its name in the scope `endpoints` of keys
 */
export function callRoute(
  format: Format & { client: ClientCodec },
  context: RouteContext,
  serve: Serve,
  route: CallRoute,
  endpoint = format.id,
) {
  const { gateway, authenticate, admission, allowSilence } = context;
  return async (request: Request): Promise<Response> => {
    const call = new Call(createRequestId(), format.id, request.headers);
    call.route = route;
    request.signal.addEventListener("abort", () => {
      if (call.leave()) return leave();
      if (!call.outcome) call.abort(clientLeft());
    });
    const deadline = new Deadline(call, gateway.clock, gateway.timeouts);
    const answer = (opened: Opened) => respond(deliver(opened, call, format.client, gateway), call.id);
    let client: string | undefined;
    const leave = () => {
      if (client !== undefined) admission.leave(client);
      client = undefined;
    };
    call.disconnect = () => context.disconnect(request);
    deadline.onLong = () => allowSilence(request, true);
    call.release = () => {
      deadline.stop();
      if (deadline.isLong) allowSilence(request, false);
      leave();
    };
    try {
      const found = authenticate(request, format.client.routes);
      const principal = found instanceof Promise ? await found : found;
      if (principal) {
        call.principal = principal;
        assertScope(principal, endpoint, () => context.address(request));
      }
      if (admission.isLimited) client = admission.enter(call.principal?.id ?? context.address(request));
      return answer(await serve(call, request, deadline));
    } catch (thrown) {
      const error = toClientError(call.abortReason ?? thrown, call);
      const refusal = openError(error, format.client, call.id);
      context.life.refused?.(arrivalOf(request, call, format.client, context), refusal.status);
      return answer(refusal);
    }
  };
}

/** The client's request, for what runs at calls. */
export function arrivalOf(
  http: Request,
  call: Call,
  client: ClientCodec,
  context: Pick<RouteContext, "address">,
): Arrival {
  return { call, http, client, address: () => context.address(http) };
}

function entryOf(incoming: Incoming, operation: EntryOperation, arrival: Arrival, { registry }: Gateway) {
  return new Entry(incoming, { operation, registry, arrival });
}

/** A validated request as the gateway gets it. */
function incomingOf(body: RequestBody, call: Call, format: Format & { client: ClientCodec }): Incoming {
  return {
    call,
    format,
    bytes: body.bytes,
    spanOf: (name) => body.spanOf(name),
    get body() {
      return format.client.routes.address ? withAddress(body.json, call) : body.json;
    },
  };
}
