/** Where clients of a format ask, and how weir recognises their requests. */
import type { JsonObject } from "../json.ts";
import type { LocalOperation } from "../local-operation.ts";
import type { ModelListing, ModelMembers } from "../model-listing.ts";
import type { UrlAddress } from "../url-address.ts";

/** Whose APIs for what weir keeps, such as files: vendors share paths, and differ in what they send and read there. */
export type Vendor = "openai" | "anthropic" | "google";

export interface ClientRoutes {
  /** Path of the route, for example `/v1/messages`; with an {@link UrlAddress} that of JSON answers. */
  path: string;
  /** How the URL names the model and selects a stream; absent if the body has members for them. */
  address?: UrlAddress;
  /** Other beginnings of its paths in place of `/v1`. `{model}` is a segment with the model, which replaces that of the body. */
  bases?: readonly string[];
  /** The same for the path of the format alone: operations that belong to no format are not there. */
  ownBases?: readonly string[];
  /** Beginnings of paths that only clients of this format use: an error for another path there has this format. */
  prefixes?: readonly string[];
  /** Lower-case names of the headers that may hold the gateway key, in this order. Default: `authorization`, `x-api-key`. */
  keyHeaders?: readonly string[];
  /** Lower-case names of request headers that only clients of this format send. */
  clientHeaders?: readonly string[];
  /** Whose API for files its clients use. Default: that of OpenAI. */
  vendor?: Vendor;
  /** Top-level members that only requests of this format have. `POST /v1/explain` recognises the format by them. */
  clientMembers?: readonly string[];
  /** How `GET …/models` lists models for clients of this format. Default: the list of all other clients. */
  models?: ModelListing;
  /** The entry of a model for clients of the format in the list of all other clients. */
  modelMembers?: ModelMembers;
  /** Ending of a model name that means the same model as the name without it: `:latest`. */
  impliedEnding?: string;
  /** Members of the answer to `GET /` by which clients of the format recognise a server. */
  greeting?: JsonObject;
  /** The operations of the format on models and on the server; weir answers them itself. */
  local?: readonly LocalOperation[];
}
