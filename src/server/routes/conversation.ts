/** The routes of conversations: no model answers, and the body is no request of the format. */
import type { CallRoute } from "../../core/call.ts";
import type { JsonObject } from "../../core/json.ts";
import { enter } from "../../gateway/life.ts";
import { tell } from "../../gateway/lanes/receive.ts";
import { type Edited, Entry } from "../../gateway/seams.ts";
import type { ConversationOperation } from "../../gateway/stored/conversations.ts";
import type { Incoming } from "../../gateway/types.ts";
import { scanBody } from "../../stream/scan.ts";
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
  const { path, withItemsOf } = format.client.beside.stored!.conversations!;
  // The same at every base of the format.
  const name = path.slice(path.lastIndexOf("/"));
  const serve: Serve = (call, request, deadline, receiver) => {
    const { pathname, searchParams: query } = new URL(request.url);
    const below = pathname.slice(pathname.indexOf(name) + name.length + 1);
    const [id = "", , item = ""] = below.split("/").map(decoded);
    const opening = async () => {
      const { body, bytes } = await bodyOf(request, context);
      const asked = { call, format, id, item, query };
      const incoming = withItems({ call, format }, body);
      const arrival = arrivalOf(request, call, format.client, context);
      const entering = () => new Entry(incoming, { operation: "stored", registry, arrival });
      const run = (edited?: Edited) => {
        if (!edited) return operation({ ...asked, body, bytes }, gateway);
        const changed = withItemsOf(body, edited.body);
        return operation({ ...asked, body: changed, bytes: encode(changed) }, gateway);
      };
      return enter(life, deadline, entering, run);
    };
    tell(opening(), receiver);
  };
  return callRoute(format, context, serve, route);
}

const NO_BYTES = new Uint8Array(0);

const encode = (value: JsonObject): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** What is around calls sees the items of a body as those of a request: guards read and replace their texts. */
function withItems(asked: Pick<Incoming, "call" | "format">, given: JsonObject): Incoming {
  const { itemsIn, requestOf } = asked.format.client.beside.stored!.conversations!;
  const items = itemsIn(given);
  if (items.length === 0) return { ...asked, bytes: NO_BYTES, body: {}, spanOf: () => undefined };
  const body = requestOf(items);
  const bytes = encode(body);
  const { members } = scanBody(bytes, Infinity);
  return { ...asked, bytes, body, spanOf: (name) => members.get(name) };
}

/** A conversation may be made without a body. @throws GatewayError `invalid-request` */
async function bodyOf(
  request: Request,
  { limits, gateway }: RouteContext,
): Promise<{ body: JsonObject; bytes: Uint8Array }> {
  const isEmpty = request.body === null || request.headers.get("content-length") === "0";
  if (request.method !== "POST" || isEmpty) return { body: {}, bytes: NO_BYTES };
  const { json, bytes } = await readBody(request, limits, gateway.clock);
  return { body: json, bytes };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
