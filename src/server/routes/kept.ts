/** The routes of what providers keep for a key: their target comes from the name in the path, not from a model. */
import type { CallRoute } from "../../core/call.ts";
import type { KeepingKind, KeptOperation } from "../../gateway/caches/operations.ts";
import { tell } from "../../gateway/lanes/receive.ts";
import { enter } from "../../gateway/life.ts";
import { Entry } from "../../gateway/seams.ts";
import type { ClientFormat } from "../operation.ts";
import { readBody } from "../read-body.ts";
import { callRoute, type RouteContext, type Serve } from "./generate.ts";
import { arrivalOf } from "./incoming.ts";

/** The route of one operation. */
export function keptRoute(
  format: ClientFormat,
  kind: KeepingKind,
  context: RouteContext,
  operation: KeptOperation,
  route: CallRoute,
) {
  const { gateway, life, limits } = context;
  const serve: Serve = (call, request, deadline, receiver) => {
    const { pathname, searchParams: query } = new URL(request.url);
    // The same at every base; a list has no name.
    const [, segment = ""] = pathname.split(`/${kind.keeps.prefix}`);
    const id = decoded(segment);
    const entering = () => {
      const arrival = arrivalOf(request, call, format.client, context);
      const nothing = { call, format, bytes: new Uint8Array(0), body: {}, spanOf: () => undefined };
      return new Entry(nothing, { operation: "stored", registry: gateway.registry, arrival });
    };
    const open = async () => {
      if (route.method !== "PATCH") return operation({ call, kind, id, query }, gateway);
      const { bytes, json } = await readBody(request, limits, gateway.clock, format.client.request);
      return operation({ call, kind, id, query, update: { bytes, body: json } }, gateway);
    };
    tell(enter(life, deadline, entering, open), receiver);
  };
  return callRoute(format, context, serve, route, kind.id);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
