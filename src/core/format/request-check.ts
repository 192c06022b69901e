/** Checks that a request of a format passes before weir accepts it. */
import type { ClientSchemas } from "../client-schemas.ts";
import type { DocumentedError } from "../error.ts";
import type { Json, JsonObject } from "../json.ts";

export interface RequestCheck {
  /** JSON schema (TypeBox) of the request, open to unknown members at every level. */
  schema: JsonObject;
  /** JSON schemas of the other bodies, for the OpenAPI document; without them it describes these as any object. */
  schemas?: ClientSchemas;
  /** The errors that only this format has; the OpenAPI document lists them beside those of every format. */
  errors?: readonly DocumentedError[];
  /**
   * Checks every rule of the format on a parsed body (`null` for an optional field counts as absent).
   * @throws GatewayError `invalid-request` with the path of the first fault.
   */
  checkRequest(body: Json): asserts body is JsonObject;
  /**
   * weir may accept a request because `checkRequest` accepts its outline: the body in which `~` replaces every string of
   * more than 32 bytes, and within members every string of other characters than a to z and `_`, and in which a top-level
   * list has equal objects once. Numbers, names and structure are those of the body. Condition: `checkRequest` accepts no
   * outline of a body that it refuses. So it compares strings only with words that the outline keeps, accepts `~` only
   * where it accepts every string, and neither compares the elements of a list with each other nor counts them beyond one.
   * Absent: weir parses every body.
   */
  judgedByOutline?: boolean;
  /** A request without the member `stream` asks for a stream. Default false. */
  streamsByDefault?: boolean;
  /** Clients may give any content type to a body, or none. Default false: weir refuses all but JSON. */
  anyMediaType?: boolean;
  /** Valid requests that want nothing of a model: weir answers them itself. */
  idle?: IdleRequests;
}

export interface IdleRequests {
  /** JSON schema of all other requests, beside that of the format. */
  others: JsonObject;
  /** `undefined` for a request that wants an answer of a model. */
  answer(body: JsonObject): JsonObject | undefined;
}
