/** `GET /v1/models` and `/v1/models/{id}`: one body that the SDKs of both vendors can read. */
import { GatewayError, invalidRequest } from "../../core/error.ts";
import { limitText } from "../../core/limit-text.ts";
import type { JsonObject } from "../../core/json.ts";
import { MODEL_BYTES } from "../request-body.ts";
import type { ModelEntry, Registry } from "../../gateway/routing/registry.ts";

/** Both formats require a date, which weir does not know. */
const CREATED = 1_700_000_000;

function describeModel({ id, provider }: ModelEntry): JsonObject {
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
 * @throws GatewayError `invalid-request` for a limit that is not a positive integer
 */
export async function listModels(registry: Registry, query: URLSearchParams): Promise<JsonObject> {
  const wanted = readLimit(query.get("limit"));
  await registry.live.wait();
  const all = registry.models();
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

const PATH = "/v1/models/";

/** The model name in the path of a request. */
export function modelIdOf(request: Request): string {
  const encoded = new URL(request.url).pathname.slice(PATH.length);
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** Finds any model that weir would serve, listed or not. @throws GatewayError `not-found` */
export async function retrieveModel(registry: Registry, id: string): Promise<JsonObject> {
  const isTooLong = Buffer.byteLength(id) > MODEL_BYTES;
  if (!isTooLong) await registry.prepare(id);
  const listed = registry.models().find((model) => model.id === id);
  const winner = listed ?? (isTooLong ? undefined : registry.explain(id)[0]);
  if (winner) return describeModel({ id, provider: winner.provider });
  throw new GatewayError(
    "not-found",
    `The model \`${limitText(id, MODEL_BYTES)}\` does not exist; see GET /v1/models.`,
    {
      code: "model_not_found",
      param: "model",
    },
  );
}
