/** Identifies the conversation of a request. */
import type { SessionSource } from "../../../core/format.ts";
import { firstUserText, sessionInHeaders } from "../../shared/session.ts";

/** The session of the headers, or the user's first message. */
export function sessionOf(source: SessionSource): string | undefined {
  return sessionInHeaders(source) ?? firstUserText(source, "contents");
}
