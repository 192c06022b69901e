/** Lists of models in the shape of one format. */
import type { JsonObject } from "./json.ts";
import type { ModelFacts } from "./model-facts.ts";

/** A list of models in the shape of one format. */
export interface ModelListing {
  /** Paths of the list. */
  paths: readonly string[];
  /** Paths of single models: `/v1beta/models/{+id}`. */
  modelPaths: readonly string[];
  /** The model name in such a path, percent-decoded. */
  idOf(path: string): string;
  /** @throws GatewayError `invalid-request` for a page that does not exist */
  list(models: readonly ListedModel[], query: URLSearchParams): JsonObject;
  one(model: ListedModel): JsonObject;
  /** JSON schemas for the OpenAPI document. */
  schemas: { list: JsonObject; one: JsonObject };
}

export interface ListedModel {
  /** The model name as clients write it. */
  id: string;
  /** The provider that serves it. */
  provider: string;
  /** What is known about it. */
  facts?: ModelFacts;
}
