/** JSON schemas that a format states for the OpenAPI document. */
import type { JsonObject } from "./json.ts";

/** JSON schemas of what clients of a format send and get. All are open to unknown members at every level. */
export interface ClientSchemas {
  /** A JSON answer. */
  answer: JsonObject;
  /** The data of one event of a stream; the events of errors are {@link error}. */
  event: JsonObject;
  /** Data of the event that ends a stream, if it is not JSON: `[DONE]`. */
  terminator?: string;
  /** An error before the first byte of a stream, and within it unless it has the schema of an {@link event}. */
  error: JsonObject;
}
