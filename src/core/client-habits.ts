/** How clients of a format differ from those of most others. */
import type { JsonObject } from "./json.ts";
import type { LocalOperation } from "./local-operation.ts";

export interface ClientHabits {
  /** The operations of the format on models and on the server; weir answers them itself. */
  local?: readonly LocalOperation[];
  /** Members of the answer to `GET /` by which clients of the format recognise a server. */
  greeting?: JsonObject;
  /** Beginnings of paths that only clients of this format use: an error for another path there has this format. */
  prefixes?: readonly string[];
  /** Ending of a model name that means the same model as the name without it: `:latest`. */
  impliedEnding?: string;
  /** A request without the member `stream` asks for a stream. Default false. */
  streamsByDefault?: boolean;
  /**
   * A stream is one JSON value in each line (`application/x-ndjson`). Default false: it is server-sent events. `heartbeat` is
   * white space that may stand in front of a value.
   */
  streamsLines?: boolean;
  /** Clients may give any content type to a body, or none. Default false: weir refuses all but JSON. */
  anyMediaType?: boolean;
  /** Valid requests that want nothing of a model: weir answers them itself. */
  idle?: IdleRequests;
  /**
   * Clients may send tool calls back without their ids. weir then finds signed reasoning by the conversation. Default false: by
   * the id.
   */
  losesCallIds?: boolean;
}

export interface IdleRequests {
  /** JSON schema of all other requests, beside that of the format. */
  others: JsonObject;
  /** `undefined` for a request that wants an answer of a model. */
  answer(body: JsonObject): JsonObject | undefined;
}
