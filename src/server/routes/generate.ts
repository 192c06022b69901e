/** The generating routes: one handler for each client format. */
import type { Call, CallRoute } from "../../core/call.ts";
import type { EmbedClient } from "../../core/embed-dialect.ts";
import type { ClientCodec, Format } from "../../core/format.ts";
import type { JsonObject } from "../../core/json.ts";
import { prepareModel } from "../../gateway/access.ts";
import { modelAsked, streamAsked, withModelSettings } from "../../gateway/asked.ts";
import type { Deadline } from "../../gateway/delivery/deadline.ts";
import { countTokens } from "../../gateway/count-tokens.ts";
import { embed } from "../../gateway/embed/embed.ts";
import type { Opened, OpenedReceiver } from "../../gateway/lanes/lane.ts";
import { tell } from "../../gateway/lanes/receive.ts";
import { enter, enterTo } from "../../gateway/life.ts";
import { type Arrival, type Edited, Entry, type EntryOperation } from "../../gateway/seams.ts";
import type { Gateway, Incoming } from "../../gateway/types.ts";
import { exchangeTo } from "../../gateway/pipeline.ts";
import { readBody, readBodyTo } from "../read-body.ts";
import type { RequestBody, RequestPart } from "../request-body.ts";
import { addressCall, modelInPath, withAddress, withModelOfPath } from "../url-address.ts";
import { arrivalOf, callRoute, type RouteContext, type Serve } from "./call-route.ts";
import { findModel } from "./models.ts";

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
      const preparing = prepareModel(entered.call, entered.call.model, gateway.registry);
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
    const incoming = incomingOf(body, call, format);
    const arrival = () => arrivalOf(request, call, format.client, context);
    const entering = () => entryOf(incoming, operation, arrival(), gateway);
    enterTo(life, deadline, entering, (entry, inner) => open(entry ?? incoming, deadline, inner), receiver);
  };
  const serve: Serve = (call, request, deadline, receiver) => {
    if (address) addressCall(call, address, request, options.streams ?? false);
    readBodyTo(request, limits, gateway.clock, format.client.request, {
      body(read) {
        try {
          answer(validated(read, call, request), { call, request, deadline }, receiver);
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
