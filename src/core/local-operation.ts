/** Operations of a format that ask no provider: weir answers them from its list of models. */
import type { JsonObject } from "./json.ts";
import type { ListedModel } from "./model-listing.ts";

export interface LocalOperation {
  method: "GET" | "POST";
  path: string;
  /** `operationId` of the OpenAPI document. */
  id: string;
  summary: string;
  /** Clients need no gateway key. Default false: they need one that may use the endpoint `models`. */
  open?: boolean;
  /** JSON schemas with a title each, for the OpenAPI document. Without that of a request weir reads no body. */
  schemas: { request?: JsonObject; answer: JsonObject };
  /** `listed`: the answer describes the models of `GET /v1/models`. A function names the only one; it may throw a GatewayError. */
  of?: "listed" | ((body: JsonObject) => string);
  /** @param models what `of` says, as far as the client's key may use it */
  answer(models: readonly ListedModel[]): JsonObject;
}
