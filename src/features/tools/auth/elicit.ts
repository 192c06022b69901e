/** How a client hears that its user has to connect an account, by what it can do. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Exchange } from "../bridge/exchange.ts";
import type { Answered } from "../wire/messages.ts";
import type { NeedsUser } from "./credential.ts";

/** Key of weir's question among those of a server. */
const QUESTION = "weir/connect";

/**
 * The answer to a request that needs an account.
 * @param params of the request @returns a question to modern clients that open links, else a result for the model
 * @throws NeedsUser to legacy clients that open links, and for requests that are no calls of tools: they have no other way
 */
export function askUser(exchange: Exchange, method: string, params: JsonObject, needs: NeedsUser): Answered {
  const { elicitation } = exchange.client.capabilities;
  const opensLinks = isObject(elicitation) && elicitation["url"] !== undefined;
  if (opensLinks && exchange.era === "modern") {
    const { requestState } = params;
    const inputRequests = { [QUESTION]: { method: "elicitation/create", params: needs.elicitation } };
    const state = requestState === undefined ? {} : { requestState };
    return { result: { resultType: "input_required", inputRequests, ...state } };
  }
  if (opensLinks || method !== "tools/call") throw needs;
  return told(`${needs.message}, and call the tool again`);
}

/** What a client answers to {@link askUser}. @returns the request without it, or the answer to a user who does not want to */
export function withoutAnswer(params: JsonObject): { params: JsonObject } | { refused: Answered } {
  const { inputResponses, ...others } = params;
  const answer = isObject(inputResponses) ? inputResponses[QUESTION] : undefined;
  if (!isObject(inputResponses) || answer === undefined) return { params };
  if (!isObject(answer) || answer["action"] !== "accept")
    return { refused: told("the user does not want to connect an account") };
  const { [QUESTION]: _, ...rest } = inputResponses;
  return { params: Object.keys(rest).length > 0 ? { ...others, inputResponses: rest } : others };
}

/** A result, because the model may find another way. */
function told(text: string): Answered {
  return { result: { content: [{ type: "text", text }], isError: true } };
}
