/** Notifications of progress: the server sees a token of weir, the client its own. */
import type { Json, JsonObject } from "../../../core/json.ts";
import type { RequestId } from "../wire/messages.ts";
import { metaOf, withMeta } from "../wire/revisions.ts";

export class Progress {
  readonly #token: Json | undefined;
  readonly #own: RequestId;
  #last = -Infinity;

  /** @param own token for the server: the id of its request, which no other running one has */
  constructor(params: JsonObject, own: RequestId) {
    this.#token = metaOf(params)["progressToken"];
    this.#own = own;
  }

  /** The parameters for the server. */
  params(params: JsonObject): JsonObject {
    return this.#token === undefined ? params : withMeta(params, { progressToken: this.#own });
  }

  isFor(params: JsonObject): boolean {
    return this.#token !== undefined && params["progressToken"] === this.#own;
  }

  /** @returns the parameters for the client; undefined for progress that goes backwards */
  read(params: JsonObject): JsonObject | undefined {
    // By its text: a number that JavaScript cannot hold is no number here.
    const progress = Number(JSON.stringify(params["progress"]));
    if (!(progress >= this.#last)) return undefined;
    this.#last = progress;
    return { ...params, progressToken: this.#token };
  }
}
