/** `GET /v1/models` and `/v1/models/{id}`: one body with the members that the SDKs of several formats read, or the shape of a format. */
import { GatewayError, invalidRequest } from "../../core/error.ts";
import type { Principal } from "../../core/principal.ts";
import type { ListedModel, ModelListing, ModelMembers } from "../../core/model-listing.ts";
import { limitText } from "../../core/printable.ts";
import type { JsonObject } from "../../core/json.ts";
import { MODEL_BYTES } from "../request-body.ts";
import type { ModelCatalog } from "../../gateway/models/catalog.ts";

/** The shape of one format, or the members that clients of several formats read. */
export type ModelShape = ModelListing | readonly ModelMembers[];

/** The catalog keeps its objects, so that a model is described once. */
const described = new WeakMap<ListedModel, JsonObject>();

function describeModel(model: ListedModel, members: readonly ModelMembers[]): JsonObject {
  let known = described.get(model);
  if (!known)
    described.set(
      model,
      (known = Object.assign({ id: model.id, does: [...model.does] }, ...members.map(({ of }) => of(model)))),
    );
  return known!;
}

/**
 * All models in one page by default: only the Anthropic SDK asks for pages.
 * @param principal who asks: the list has the models that it may use
 * @throws GatewayError `invalid-request` for a limit that is not a positive integer
 */
export async function listModels(
  catalog: ModelCatalog,
  { url }: Request,
  principal: Principal | undefined,
  shape: ModelShape,
): Promise<JsonObject> {
  const query = new URL(url).searchParams;
  const models = await catalog.list(principal);
  return "list" in shape ? shape.list(models, query) : listPage(models, query, shape);
}

function listPage(
  all: readonly ListedModel[],
  query: URLSearchParams,
  members: readonly ModelMembers[],
): JsonObject {
  const wanted = readLimit(query.get("limit"));
  const isWanted = (model: JsonObject) => members.every(({ wants }) => wants?.(model, query) ?? true);
  const found = all.map((model) => describeModel(model, members)).filter(isWanted);
  const after = found.findIndex(({ id }) => id === query.get("after_id")) + 1;
  const limit = wanted ?? found.length;
  const data = found.slice(after, after + limit);
  return {
    object: "list",
    data,
    has_more: after + limit < found.length,
    first_id: data[0]?.["id"] ?? null,
    last_id: data[data.length - 1]?.["id"] ?? null,
  };
}

function readLimit(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^0*[1-9]\d*$/.test(text)) return Number(text);
  throw invalidRequest("limit: expected a positive integer.", "limit", "invalid_value");
}

/** The model name in the path of a request. @param bases paths of the lists */
export function modelIdOf({ url }: Request, bases: readonly string[]): string {
  const { pathname } = new URL(url);
  const base = bases.find((path) => pathname.startsWith(`${path}/`)) ?? "";
  const encoded = pathname.slice(base.length + 1);
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** One model in the shape of the list. @throws GatewayError as {@link findModel} */
export async function retrieveModel(
  catalog: ModelCatalog,
  id: string,
  principal: Principal | undefined,
  shape: ModelShape,
): Promise<JsonObject> {
  const found = await findModel(catalog, id, principal);
  return "one" in shape ? shape.one(found) : describeModel(found, shape);
}

/** Finds any model that weir would serve, listed or not. @throws GatewayError `not-found`, `permission` */
export async function findModel(
  catalog: ModelCatalog,
  id: string,
  principal: Principal | undefined,
): Promise<ListedModel> {
  await catalog.assertAllowed(id, principal);
  if (Buffer.byteLength(id) <= MODEL_BYTES) {
    const found = await catalog.find(id);
    if (found) return found;
  }
  throw new GatewayError(
    "not-found",
    `The model \`${limitText(id, MODEL_BYTES)}\` does not exist; see GET /v1/models.`,
    {
      code: "model_not_found",
      param: "model",
    },
  );
}
