/** `GET /v1/models` and `/v1/models/{id}`: one body that the SDKs of OpenAI and Anthropic can read, or the shape of a format. */
import { GatewayError, invalidRequest } from "../../core/error.ts";
import type { KeyAccess } from "../../core/key-access.ts";
import type { ListedModel, ModelListing } from "../../core/model-listing.ts";
import { limitText } from "../../core/limit-text.ts";
import type { JsonObject } from "../../core/json.ts";
import { MODEL_BYTES } from "../request-body.ts";
import { allowedModels, assertModel } from "../../gateway/access.ts";
import type { Registry } from "../../gateway/routing/registry.ts";

/** Both formats require a date, which weir does not know. */
const CREATED = 1_700_000_000;

function describeModel({ id, provider }: ListedModel): JsonObject {
  return {
    id,
    object: "model",
    created: CREATED,
    owned_by: provider,
    type: "model",
    display_name: id,
    created_at: new Date(CREATED * 1000).toISOString().replace(".000", ""),
    lifecycle: "active",
    capabilities: null,
    max_input_tokens: null,
    max_tokens: null,
  };
}

/**
 * All models in one page by default: only the Anthropic SDK asks for pages.
 * @param access the client's key: the list has the models that it may use
 * @param listing of the client's format, if it has a shape of its own
 * @throws GatewayError `invalid-request` for a limit that is not a positive integer
 */
export async function listModels(
  registry: Registry,
  { url }: Request,
  access: KeyAccess | undefined,
  listing?: ModelListing,
): Promise<JsonObject> {
  const query = new URL(url).searchParams;
  await registry.live.wait();
  const models = allowedModels(registry, access);
  return listing ? listing.list(models, query) : listPage(models, query);
}

function listPage(all: readonly ListedModel[], query: URLSearchParams): JsonObject {
  const wanted = readLimit(query.get("limit"));
  const after = all.findIndex((model) => model.id === query.get("after_id")) + 1;
  const limit = wanted ?? all.length;
  const data = all.slice(after, after + limit).map(describeModel);
  return {
    object: "list",
    data,
    has_more: after + limit < all.length,
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

/** Finds any model that weir would serve, listed or not. @throws GatewayError `not-found`, `permission` */
export async function retrieveModel(
  registry: Registry,
  id: string,
  access: KeyAccess | undefined,
  listing?: ModelListing,
): Promise<JsonObject> {
  assertModel(access, id);
  const isTooLong = Buffer.byteLength(id) > MODEL_BYTES;
  if (!isTooLong) await registry.prepare(id);
  const listed = registry.models().find((model) => model.id === id);
  const winner = listed ?? (isTooLong ? undefined : registry.explain(id)[0]);
  const found = winner && { id, provider: winner.provider };
  if (found) return listing ? listing.one(found) : describeModel(found);
  throw new GatewayError(
    "not-found",
    `The model \`${limitText(id, MODEL_BYTES)}\` does not exist; see GET /v1/models.`,
    {
      code: "model_not_found",
      param: "model",
    },
  );
}
