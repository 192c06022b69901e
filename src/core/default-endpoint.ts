/** Where hosts of a format listen, unless the config or the plugin says otherwise. */
import type { SpokenPath } from "./endpoint.ts";
import type { Framing } from "./frame.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Provider } from "./provider.ts";

export interface DefaultEndpoint {
  /** Path, or paths, behind a base URL that ends in `/v1`. */
  path: SpokenPath;
  /** How these hosts frame streams. Default: server-sent events. */
  framing?: Framing;
  /** For a host that speaks only this format, if it differs. */
  alone?: EndpointAlone;
  /** Where hosts of this format usually embed, by dialect. */
  embeds?: Provider["embeds"];
}

export interface EndpointAlone {
  path: SpokenPath;
  /** Path of the list of models. */
  models: string;
  auth: NonNullable<Provider["auth"]>;
  /** The model names in the answer with the list; `undefined` if it is none. Default: `data[].id`. */
  namesIn?(list: JsonObject): readonly (Json | undefined)[] | undefined;
  /** The entries of the list, in the order of `namesIn`. Default: `data`. */
  entriesIn?(list: JsonObject): readonly (Json | undefined)[] | undefined;
}
