/** `POST /v1/explain`: explains a request of any client format without sending it. */
import { GatewayError, invalidRequest } from "../../core/error.ts";
import type { ClientCodec, Format } from "../../core/format.ts";
import { type FormFields, hasRequests } from "../../core/model-kind.ts";
import type { Registry } from "../../gateway/routing/registry.ts";
import { explain } from "../../gateway/explain.ts";
import { chooseFormat, formatOfHeaders } from "../choose-format.ts";
import { assertScope } from "../key-scope.ts";
import { readBody } from "../read-body.ts";
import { withoutAddress } from "../url-address.ts";
import { createRequestId, respondError, respondJson } from "../respond.ts";
import { isForm, readForm, requestOfForm } from "../take-form.ts";
import type { RouteContext } from "./generate.ts";

type ClientFormat = Format & { client: ClientCodec };

/** @param keyHeaders the headers that may hold the key */
export function explainRoute(
  formats: readonly ClientFormat[],
  context: RouteContext,
  keyHeaders: readonly string[],
) {
  return async (request: Request): Promise<Response> => {
    const id = createRequestId();
    let format = formatOfHeaders(formats, request.headers);
    try {
      const principal = await context.authenticate(request, { keyHeaders });
      assertScope(principal, "explain", () => context.address(request));
      const named = new URL(request.url).searchParams.get("format");
      const fields = isForm(request) ? formNamed(named, context.gateway.registry) : undefined;
      await using upload = fields && (await readForm(request, fields, context));
      const read = upload
        ? requestOfForm(upload, fields!, context.limits)
        : await readBody(request, context.limits, context.gateway.clock);
      const body = read.json;
      const chosen = chooseFormat(
        formats,
        named,
        request.headers,
        body,
        context.gateway.registry.kinds.values(),
      );
      format = chosen.format;
      if (!read.spanOf("model")) throw invalidRequest("model: Field required", "model");
      const sent = format.client.routes.address ? withoutAddress(read, context.limits.depth) : read;
      const options = {
        format,
        body,
        bytes: sent.bytes,
        spanOf: (name: string) => sent.spanOf(name),
        headers: request.headers,
        principal,
        embeds: chosen.embeds,
        ...(chosen.asks && { asks: chosen.asks }),
        ...(upload && { upload }),
      };
      return respondJson(await explain(options, context.gateway), id);
    } catch (thrown) {
      return respondError(GatewayError.from(thrown), format.client, id);
    }
  };
}

/** How the form of a route is read. @throws GatewayError where the route is not named, or takes no form */
function formNamed(named: string | null, { kinds }: Registry): FormFields {
  for (const { routes } of [...kinds.values()].filter(hasRequests))
    for (const { operation, path, aliases = [], form } of routes)
      if (form && named !== null && [operation, path, ...aliases].includes(named)) return form;
  throw invalidRequest("Name the path that takes the form (`?format=/v1/images/edits`).", "format");
}
