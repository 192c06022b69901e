/** Notes the conversation as a client names it. */
import { withoutCredentials } from "../../core/client-headers.ts";
import type { Incoming } from "../../gateway/types.ts";

/** The same request, with the session of its headers or of its body, which is not parsed for it, noted on its call. */
export function withSession<Read extends Omit<Incoming, "body">>(incoming: Read): Read {
  const { call, format, bytes, spanOf } = incoming;
  const headers = withoutCredentials(call.headers);
  call.named = format.client.facts.namedSession?.({ headers, bytes, spanOf });
  return incoming;
}
