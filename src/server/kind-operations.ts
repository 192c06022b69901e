/** The operations of the kinds of models besides those that generate text or embed it. */
import { hasRequests, type KindRoute, type ModelKind } from "../core/model-kind.ts";
import type { HeadersContext } from "./embed-operations.ts";
import { ADMISSION, KEPT, MODEL, PROVIDER, TRANSLATION } from "./errors.ts";
import type { ClientFormat, Operation } from "./operation.ts";
import { callHeaders, STRICT } from "./parameters.ts";
import { formatOfRoute, kindRoute } from "./routes/kind.ts";
import { aliasesOf } from "./served-routes.ts";

/** Their clients present keys and read errors as those of the first format do, where a route says nothing else. */
export function kindOperations(formats: readonly ClientFormat[], context: HeadersContext): Operation[] {
  const kinds = [...context.gateway.registry.kinds.values()].filter(hasRequests);
  return kinds.flatMap((kind) => operationsOf(kind, formats, context));
}

/** The format of the clients that ask. */
export function askingFormat(
  { vendor }: Pick<KindRoute, "vendor">,
  formats: readonly ClientFormat[],
): ClientFormat | undefined {
  return vendor === undefined ? formats[0] : formats.find(({ client }) => client.routes.vendor === vendor);
}

function operationsOf(
  kind: ModelKind,
  formats: readonly ClientFormat[],
  context: HeadersContext,
): Operation[] {
  return kind.routes.flatMap((route) => {
    const base = askingFormat(route, formats);
    if (!base) return [];
    const name = route.operation[0]!.toUpperCase() + route.operation.slice(1);
    const format = formatOfRoute(kind, route, base);
    const aliases = [route.path, ...(route.aliases ?? [])].flatMap((path) => [
      ...(path === route.path ? [] : [path]),
      ...(route.vendor === undefined ? aliasesOf(base.client.routes, path) : []),
    ]);
    return {
      method: "POST",
      path: route.path,
      aliases,
      id: route.operation,
      summary: route.summary,
      description: route.description,
      access: "key",
      keyHeaders: base.client.routes.keyHeaders,
      parameters: [STRICT, ...callHeaders(context.headers, "kinds")],
      request: { name: `${name}Request`, schema: route.schemas.request },
      answer: { name: `${name}Answer`, schema: route.schemas.answer },
      ...(route.schemas.event && { event: { name: `${name}Event`, schema: route.schemas.event } }),
      ...(route.form && { takesForm: true }),
      isCall: true,
      formats: [base],
      errors: [...MODEL, ...TRANSLATION, ...ADMISSION, ...PROVIDER, ...(kind.keeps ? KEPT : [])],
      handle: kindRoute(format, kind, route, context),
    };
  });
}
