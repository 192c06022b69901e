/** Which client format a bare body is in, where no path says so. */
import { invalidRequest } from "../core/error.ts";
import type { ClientCodec, Format } from "../core/format.ts";
import type { JsonObject } from "../core/json.ts";

type ClientFormat = Format & { client: ClientCodec };

/** Members that only a Messages request has. */
const MESSAGES_ONLY = ["system", "stop_sequences", "thinking", "output_config", "context_management"];

/**
 * The named format; else messages for a body or headers only it has, chat-completions otherwise.
 * @throws GatewayError `invalid-request` for a name nobody speaks.
 */
export function chooseFormat(
  formats: readonly ClientFormat[],
  named: string | null,
  headers: Headers,
  body: JsonObject,
): ClientFormat {
  const looksLikeMessages =
    headers.has("anthropic-version") || MESSAGES_ONLY.some((member) => member in body);
  const wanted = named ?? (looksLikeMessages ? "messages" : "chat-completions");
  const format = formats.find(({ id }) => id === wanted);
  if (format) return format;
  const ids = formats.map(({ id }) => id).join(", ");
  throw invalidRequest(`There is no client format "${wanted.slice(0, 60)}"; there are ${ids}.`, "format");
}
