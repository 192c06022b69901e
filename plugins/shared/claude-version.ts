/** The version of the Messages API, for clouds that take it in the body. */
import type { CallView, JsonObject } from "weir";

/** Anthropic's own version for most clients; clouds have their own in its place. */
const ANTHROPIC = "2023-06-01";

/** The member with the client's version, or with the cloud's in place of Anthropic's usual one. */
export function versionMember({ headers }: CallView, usual: string): JsonObject {
  const given = headers.get("anthropic-version");
  return { anthropic_version: given === null || given === ANTHROPIC ? usual : given };
}
