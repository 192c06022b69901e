/** Determines the client's format where the path does not. */
import { invalidRequest } from "../core/error.ts";
import type { ClientCodec, Format } from "../core/format.ts";
import type { JsonObject } from "../core/json.ts";
import { likelyPath } from "./misrouted.ts";

type ClientFormat = Format & { client: ClientCodec };

/** Members that only requests of the messages format have. */
const MESSAGES_ONLY = ["system", "stop_sequences", "thinking", "output_config", "context_management"];

/** The client codec for an error: by the route that the client used or meant, else by its headers, else the first format. */
export function clientCodecOf(
  formats: readonly ClientFormat[],
  request: Request,
  path: string,
  paths: Iterable<string>,
): ClientCodec {
  const route = likelyPath(path, paths) ?? path;
  const owner = formats.find(({ client }) => route === client.path || route.startsWith(`${client.path}/`));
  return (owner ?? formatOfHeaders(formats, request.headers)).client;
}

/** The format whose clients send such headers, else the first format. */
export function formatOfHeaders(formats: readonly ClientFormat[], headers: Headers): ClientFormat {
  const found = formats.find(({ client }) => client.clientHeaders?.some((name) => headers.has(name)));
  return found ?? formats[0]!;
}

/**
 * The named format; without a name, messages if the body or the headers are specific to it, else chat-completions.
 * @throws GatewayError `invalid-request` for an unknown format
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
  throw invalidRequest(`Unknown client format "${wanted.slice(0, 60)}"; known formats: ${ids}.`, "format");
}
