/** Identifies the conversation of a request. */
import type { SessionSource } from "../../../core/format.ts";
import { firstUserText, sessionInHeaders, smallMember } from "../../shared/session.ts";
import { text } from "../../shared/read.ts";

/** The session of the headers, the key of the prompt cache, or the user's first message. */
export function sessionOf(source: SessionSource): string | undefined {
  return (
    sessionInHeaders(source) ||
    text(smallMember(source, "prompt_cache_key")) ||
    firstUserText(source, "input") ||
    text(smallMember(source, "input"))
  );
}
