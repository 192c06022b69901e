/** The operations of single formats that weir answers from its list of models. */
import type { JsonObject } from "../core/json.ts";
import type { LocalOperation } from "../core/local-operation.ts";
import type { ListedModel } from "../core/model-listing.ts";
import { modelAsked } from "../gateway/asked.ts";
import { BODY, MODEL } from "./errors.ts";
import { MODELS_ENDPOINT, type MakePlain } from "./model-operations.ts";
import type { ClientFormat, NamedSchema, Operation } from "./operation.ts";
import { readBody } from "./read-body.ts";
import type { RouteContext } from "./routes/generate.ts";
import { findModel } from "./routes/models.ts";

export function localOperations(
  formats: readonly ClientFormat[],
  context: RouteContext,
  plain: MakePlain,
): Operation[] {
  return formats.flatMap((format) =>
    (format.client.routes.local ?? []).map((operation) => localOperation(operation, format, context, plain)),
  );
}

function localOperation(
  { method, path, id, summary, open, schemas, of, answer }: LocalOperation,
  { client }: ClientFormat,
  { gateway, limits }: RouteContext,
  plain: MakePlain,
): Operation {
  const { request } = schemas;
  const { registry, catalog } = gateway;
  return plain(
    {
      method,
      path,
      id,
      summary,
      ...(open ? { access: "anyone" } : { access: "key", endpoint: MODELS_ENDPOINT }),
      ...(request && { request: named(request) }),
      answer: named(schemas.answer),
      errors: request ? [...BODY, ...MODEL] : [],
    },
    async (asked, access) => {
      const body = request ? (await readBody(asked, limits, gateway.clock, client.request)).json : {};
      return answer(await modelsFor(of, body));

      async function modelsFor(of: LocalOperation["of"], body: JsonObject): Promise<readonly ListedModel[]> {
        if (of === undefined) return [];
        if (of === "listed") return catalog.list(access);
        return [await findModel(catalog, modelAsked(of(body), client.routes, registry), access)];
      }
    },
  );
}

function named(schema: NonNullable<LocalOperation["schemas"]["request"]>): NamedSchema {
  return { name: String(schema["title"]), schema };
}
