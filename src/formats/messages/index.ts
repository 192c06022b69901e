/** The Messages format (`POST /v1/messages`), a wire language; Anthropic is one company that speaks it. */
import type { ClientCodec, Format, UpstreamCodec } from "../../core/format.ts";
import { createMessagesClient } from "./client.ts";
import type { SystemTurns } from "./client/check.ts";
import { messagesUpstream } from "./upstream.ts";

export interface MessagesOptions {
  /**
   * `accept`: `role: "system"` may stand in the conversation, though never first, as Claude Code sends it.
   * `reject`: it is refused everywhere. Default `accept`.
   */
  systemTurns?: SystemTurns;
}

/** The format with its options; `messagesFormat` has the defaults. */
export function createMessagesFormat(
  options: MessagesOptions = {},
): Format & { client: ClientCodec; upstream: UpstreamCodec } {
  return {
    id: "messages",
    client: createMessagesClient(options.systemTurns ?? "accept"),
    upstream: messagesUpstream,
  };
}

export const messagesFormat = createMessagesFormat();
