/** The routes of the kinds of models besides those that generate text or embed it. */
import type { Call, CallRoute } from "../../core/call.ts";
import type { ClientCodec, Format } from "../../core/format.ts";
import type { KindRoute, ModelKind } from "../../core/model-kind.ts";
import { prepareCall } from "../../gateway/access.ts";
import { modelAsked } from "../../gateway/asked.ts";
import type { Deadline } from "../../gateway/delivery/deadline.ts";
import { perform } from "../../gateway/kinds/perform.ts";
import { tell } from "../../gateway/lanes/receive.ts";
import { enter } from "../../gateway/life.ts";
import type { Edited } from "../../gateway/seams.ts";
import { readBody } from "../read-body.ts";
import { isForm, requestOfForm, takeForm } from "../take-form.ts";
import { callRoute, type RouteContext, type Serve } from "./generate.ts";
import { arrivalOf, entryOf } from "./incoming.ts";
import { withSession } from "./with-session.ts";

type ClientFormat = Format & { client: ClientCodec };

/** The format of calls on a route: what is around calls finds the texts and writes the errors of the route by it. */
export function formatOfRoute(kind: ModelKind, route: KindRoute, base: ClientFormat): ClientFormat {
  const { codec, facts, routes } = base.client;
  const client: ClientCodec = {
    ...base.client,
    routes: { ...routes, path: route.path },
    codec: route.encodeError ? { ...codec, encodeError: (error) => route.encodeError!(error) } : codec,
    facts: route.places ? { ...facts, places: route.places } : facts,
  };
  return { id: kind.id, client };
}

/** The call has the kind as its format. */
export function kindRoute(format: ClientFormat, kind: ModelKind, route: KindRoute, context: RouteContext) {
  const { gateway, limits, life } = context;
  const { client } = format;
  const opening = async (call: Call, request: Request, deadline: Deadline) => {
    const upload =
      route.form && isForm(request) ? await takeForm(call, request, route.form, context) : undefined;
    const body = upload
      ? requestOfForm(upload, route.form!, limits)
      : await readBody(request, limits, gateway.clock, client.request);
    body.validate({ checkRequest: (parsed) => route.checkRequest(parsed) });
    const named = (body.scalar("model") ?? route.defaultModel) as string;
    call.model = modelAsked(route.readModel?.(named) ?? named, client.routes, gateway.registry);
    const incoming = withSession({
      ...{ call, format, bytes: body.bytes, body: body.json },
      spanOf: (name: string) => body.spanOf(name),
    });
    const open = async ({ body: json, bytes, spanOf }: Edited = incoming) => {
      const preparing = prepareCall(call, gateway.registry);
      if (preparing) await preparing;
      const asked = route.decodeRequest(json, upload);
      call.stream = asked.stream ?? false;
      const form = upload && { upload, body: json };
      return perform({ call, kind, route, request: asked, bytes, spanOf, ...(form && { form }) }, gateway);
    };
    const entering = () => entryOf(incoming, kind.id, arrivalOf(request, call, client, context), gateway);
    return enter(life, deadline, entering, open);
  };
  const serve: Serve = (call, request, deadline, receiver) =>
    tell(opening(call, request, deadline), receiver);
  const served: CallRoute = { method: "POST", path: route.path, operation: kind.id };
  return callRoute(format, context, serve, served, kind.id);
}
