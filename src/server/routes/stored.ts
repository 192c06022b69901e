/** The routes of stored answers: their target comes from the id in the path, not from a model. */
import type { Call, CallRoute } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { AnswerOperation } from "../../gateway/stored/operations.ts";
import type { ClientFormat } from "../operation.ts";
import type { RouteContext } from "./generate.ts";
import { callRoute } from "./generate.ts";

/** The route of one operation. The id is the segment behind the format's path. */
export function storedRoute(
  format: ClientFormat,
  context: RouteContext,
  operation: AnswerOperation,
  route: CallRoute,
) {
  const { gateway, tape } = context;
  // The same at every base of the format.
  const name = format.client.path.slice(format.client.path.lastIndexOf("/"));
  const serve = (call: Call, request: Request) => {
    if (tape?.isAlone) return Promise.reject(notOnTape());
    const { pathname, searchParams: query } = new URL(request.url);
    for (const ignored of format.client.stored?.ignoredParameters ?? []) query.delete(ignored);
    const below = pathname.slice(pathname.indexOf(`${name}/`) + name.length + 1);
    return operation({ call, format, id: decoded(below.split("/", 1)[0]!), query }, gateway);
  };
  return callRoute(format, context, serve, route);
}

function notOnTape(): GatewayError {
  return new GatewayError("invalid-request", "A tape answers no operations on stored answers.", {
    code: "not_on_tape",
  });
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
