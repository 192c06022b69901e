/** The routes of stored answers: their target comes from the id in the path, not from a model. */
import type { CallRoute } from "../../core/call.ts";
import { enter } from "../../gateway/life.ts";
import { Entry } from "../../gateway/seams.ts";
import type { AnswerOperation } from "../../gateway/stored/operations.ts";
import type { ClientFormat } from "../operation.ts";
import { callRoute, type RouteContext, type Serve } from "./generate.ts";
import { arrivalOf } from "./incoming.ts";
import { tell } from "../../gateway/lanes/receive.ts";

/** The route of one operation. The id is the segment behind the format's path. */
export function storedRoute(
  format: ClientFormat,
  context: RouteContext,
  operation: AnswerOperation,
  route: CallRoute,
) {
  const { gateway, life } = context;
  const { registry } = gateway;
  // The same at every base of the format.
  const name = format.client.routes.path.slice(format.client.routes.path.lastIndexOf("/"));
  const serve: Serve = (call, request, deadline, receiver) => {
    const { pathname, searchParams: query } = new URL(request.url);
    for (const ignored of format.client.beside.stored?.ignoredParameters ?? []) query.delete(ignored);
    const below = pathname.slice(pathname.indexOf(`${name}/`) + name.length + 1);
    const entering = () => {
      const arrival = arrivalOf(request, call, format.client, context);
      const nothing = { call, format, bytes: NO_BYTES, body: {}, spanOf: () => undefined };
      return new Entry(nothing, { operation: "stored", registry, arrival });
    };
    const id = decoded(below.split("/", 1)[0]!);
    tell(
      enter(life, deadline, entering, () => operation({ call, format, id, query }, gateway)),
      receiver,
    );
  };
  return callRoute(format, context, serve, route);
}

const NO_BYTES = new Uint8Array(0);

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
