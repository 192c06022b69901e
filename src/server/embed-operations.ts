/** The operations that embed texts. */
import type { CallHeader } from "../core/call-header.ts";
import { ADMISSION, MODEL, PROVIDER, TRANSLATION } from "./errors.ts";
import type { ClientFormat, Operation } from "./operation.ts";
import { callHeaders, STRICT, URL_MODEL } from "./parameters.ts";
import { embedRoute, type RouteContext } from "./routes/generate.ts";
import { aliasesOf } from "./served-routes.ts";

/** A context of routes, with the headers of calls that features declare. */
export interface HeadersContext extends RouteContext {
  headers: readonly CallHeader[];
}

/** No operation for a format whose clients do not embed. */
export function embedOperations(format: ClientFormat, context: HeadersContext): Operation[] {
  const {
    routes: { keyHeaders, address },
    beside: { embeds = [] },
  } = format.client;
  return embeds.map((codec) => {
    const name = codec.operation[0]!.toUpperCase() + codec.operation.slice(1);
    return {
      method: "POST",
      path: codec.path,
      aliases: aliasesOf(format.client.routes, codec.path),
      id: codec.operation,
      summary: `Embed texts (${codec.dialect})`,
      description:
        "One vector for each input. weir splits lists that are longer than the provider accepts. Fallbacks do not apply: the vectors of two models cannot be compared.",
      access: "key",
      keyHeaders,
      parameters: [...(address ? [URL_MODEL] : []), STRICT, ...callHeaders(context.headers, "embeddings")],
      request: { name: `${name}Request`, schema: codec.schemas.request },
      answer: { name: `${name}Answer`, schema: codec.schemas.answer },
      isCall: true,
      formats: [format],
      errors: [...MODEL, ...TRANSLATION, ...ADMISSION, ...PROVIDER],
      handle: embedRoute(format, codec, context),
    };
  });
}
