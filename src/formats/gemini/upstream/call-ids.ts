/**
 * Ids of calls. Some hosts of Google refuse an id that they did not give, and no id looks like one of theirs. weir therefore
 * marks the ids that it hands on to clients.
 */
import type { IdRule } from "../../../core/ids.ts";
import type { Traits } from "../../../core/provider.ts";

/** Prefix of an id that Google gave. */
export const GEMINI_ID = "call_g_";

/** The characters and the length that every host accepts. */
export const CALL_IDS: IdRule = { legal: /^[a-zA-Z0-9_-]{1,64}$/, length: 64 };

/**
 * The member `id` of a call and of its response; empty if the host must not get one.
 * @param given the client's id @param id the id that is unique in the request
 */
export function idMember(given: string, id: string, { callIds = "always" }: Traits): { id?: string } {
  const isOwn = given.startsWith(GEMINI_ID);
  if (isOwn && id.startsWith(GEMINI_ID)) {
    if (callIds === "echo" && id !== given) return {};
    return { id: id.slice(GEMINI_ID.length) };
  }
  return callIds === "always" ? { id } : {};
}
