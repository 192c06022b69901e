/** The routes of conversations: no model answers, and the body is no request of the format. */
import type { Call, CallRoute } from "../../core/call.ts";
import type { JsonObject } from "../../core/json.ts";
import { enter } from "../../gateway/life.ts";
import { tell } from "../../gateway/lanes/receive.ts";
import { Entry } from "../../gateway/seams.ts";
import type { ConversationOperation } from "../../gateway/stored/conversations.ts";
import type { ClientFormat } from "../operation.ts";
import { readBody } from "../read-body.ts";
import { callRoute, type RouteContext, type Serve } from "./generate.ts";
import { arrivalOf } from "./incoming.ts";

/** The route of one operation. The ids are the first and the third segment behind the path of the conversations. */
export function conversationRoute(
  format: ClientFormat,
  context: RouteContext,
  operation: ConversationOperation,
  route: CallRoute,
) {
  const { gateway, life } = context;
  const { registry } = gateway;
  const { path } = format.client.beside.stored!.conversations!;
  // The same at every base of the format.
  const name = path.slice(path.lastIndexOf("/"));
  const serve: Serve = (call, request, deadline, receiver) => {
    const { pathname, searchParams: query } = new URL(request.url);
    const below = pathname.slice(pathname.indexOf(name) + name.length + 1);
    const [id = "", , item = ""] = below.split("/").map(decoded);
    const opening = async () => {
      const body = await bodyOf(request, context);
      const entering = () => entryOf(call);
      return enter(life, deadline, entering, () =>
        operation({ call, format, id, item, query, body }, gateway),
      );
    };
    const entryOf = (entered: Call) => {
      const arrival = arrivalOf(request, entered, format.client, context);
      const nothing = { call: entered, format, bytes: NO_BYTES, body: {}, spanOf: () => undefined };
      return new Entry(nothing, { operation: "stored", registry, arrival });
    };
    tell(opening(), receiver);
  };
  return callRoute(format, context, serve, route);
}

const NO_BYTES = new Uint8Array(0);

/** A conversation may be made without a body. @throws GatewayError `invalid-request` */
async function bodyOf(request: Request, { limits, gateway }: RouteContext): Promise<JsonObject> {
  const isEmpty = request.body === null || request.headers.get("content-length") === "0";
  if (request.method !== "POST" || isEmpty) return {};
  return (await readBody(request, limits, gateway.clock)).json;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
