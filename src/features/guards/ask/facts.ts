/** What services may know of a call. */
import type { Call } from "../../../core/call.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Entry } from "../../../gateway/seams.ts";
import { contextOf } from "../pass/refusal.ts";
import type { AskedTool, CallFacts } from "./asker.ts";

export function factsOf({ id, principal, model, format, stream }: Call): CallFacts {
  const key = principal?.key?.id;
  return {
    ...{ id, path: principal?.path ?? "/", model, format, stream },
    ...(key !== undefined && { key }),
    ...(principal && { name: principal.name }),
    ...(principal?.person !== undefined && { person: principal.person }),
  };
}

/** The tools that a request declares. @param body of the request as it is now @returns none for what is no conversation */
export function toolsOf({ operation, format, call }: Entry, body: JsonObject): readonly AskedTool[] {
  if (operation !== "generate" || body["tools"] === undefined) return [];
  try {
    const { tools } = format.client.codec.decodeRequest(body, contextOf(call));
    return tools.map(({ name, description, parameters }) => ({
      name,
      ...(description !== undefined && { description }),
      ...(parameters && { schema: parameters }),
    }));
  } catch {
    // The call itself will say what is wrong with it.
    return [];
  }
}
