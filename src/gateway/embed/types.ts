/** A request for embeddings that weir has read and validated. */
import type { Call } from "../../core/call.ts";
import type { EmbedClient } from "../../core/embed-dialect.ts";
import type { EmbedRequest } from "../../core/embed.ts";

export interface IncomingEmbed {
  /** Its format is the client's dialect. */
  call: Call;
  client: EmbedClient;
  request: EmbedRequest;
  /** The body as the client sent it. */
  bytes: Uint8Array;
  /** Byte range of the value of a top-level member. */
  spanOf(name: string): { start: number; end: number } | undefined;
}
