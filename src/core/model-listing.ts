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

/** The members that clients of one format read of a model, in a list that several formats share. */
export interface ModelMembers {
  of(model: ListedModel): JsonObject;
  /** JSON schema of the members: an object. */
  schema: JsonObject;
}

export interface ListedModel {
  /** The model name as clients write it. */
  id: string;
  /** The provider that serves it. */
  provider: string;
  /** The provider's own name of it; absent for a route to several models. */
  model?: string;
  /** What is known about it. */
  facts?: ModelFacts;
}
