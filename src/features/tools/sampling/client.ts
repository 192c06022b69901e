/** What servers hear of clients whose servers weir's models answer. */
import type { JsonObject } from "../../../core/json.ts";
import type { ClientFacts } from "../servers/connection.ts";

/** Capability of a client whose models may call tools that the server offers. */
const CAPABILITY: JsonObject = { tools: {} };

/** The client as a server sees it for which weir's models answer. */
export function withModels(client: ClientFacts): ClientFacts {
  return { ...client, capabilities: { ...client.capabilities, sampling: CAPABILITY } };
}
