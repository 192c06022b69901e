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

/** Lists of models, as an upstream codec knows them. */
export interface ModelReader {
  /** One model of a host's list. @param entry as hosts that speak the format write it */
  factsIn?(entry: JsonObject): ModelFacts | undefined;
  /** The same value for models for which it encodes requests alike. Default: every name is a kind of its own. */
  modelKind?(model: string): unknown;
}

/** The members that clients of one format read of a model, in a list that several formats share. */
export interface ModelMembers {
  of(model: ListedModel): JsonObject;
  /** Requests with one option each, by the name of the option, from which weir finds out {@link ListedModel.carried}. */
  samples?: Readonly<Record<string, JsonObject>>;
  /** Whether a client that lists models with this query wants one. @param members as `of` wrote them */
  wants?(members: JsonObject, query: URLSearchParams): boolean;
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
  /** What weir sends to it: `chat`, `embedding`, `rerank` and other kinds; for a route, what one of its models does. */
  does: readonly string[];
  /** The {@link ModelMembers.samples} that reach it, by the format of the client; a format is absent if that is not known. */
  carried?: Readonly<Record<string, readonly string[]>>;
  /** Known facts about it. */
  facts?: ModelFacts;
}
