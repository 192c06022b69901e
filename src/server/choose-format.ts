/** Determines the client's format where the path does not. */
import { invalidRequest } from "../core/error.ts";
import type { ClientCodec, Format } from "../core/format.ts";
import type { JsonObject } from "../core/json.ts";
import { likelyPath } from "./misrouted.ts";

type ClientFormat = Format & { client: ClientCodec };

/** The client codec for an error: by the route that the client used or meant, else by its headers, else the first format. */
export function clientCodecOf(
  formats: readonly ClientFormat[],
  request: Request,
  path: string,
  paths: Iterable<string>,
): ClientCodec {
  const route = likelyPath(path, paths) ?? path;
  const owner =
    formats.find(({ client }) => route === client.path || route.startsWith(`${client.path}/`)) ??
    formats.find(({ client }) => isAddressed(client, request.method, path)) ??
    formats.find(({ client }) => client.prefixes?.some((beginning) => route.startsWith(beginning)));
  return (owner ?? formatOfHeaders(formats, request.headers)).client;
}

/** Whether only clients of the format use the path; others ask for models below `/v1/models` too, but never with POST. */
function isAddressed({ address }: ClientCodec, method: string, path: string): boolean {
  if (!address) return false;
  const beginnings = method === "POST" ? [...address.prefixes, ...address.bases] : address.prefixes;
  return beginnings.some((beginning) => path.startsWith(beginning));
}

/** The format whose clients send such headers, else the first format. */
export function formatOfHeaders(formats: readonly ClientFormat[], headers: Headers): ClientFormat {
  return formats.find(({ client }) => hasHeaderOf(client, headers)) ?? formats[0]!;
}

/**
 * The named format, by its id or by that of its dialect of embeddings; without a name, the one that the headers or the members of the body are specific to, else the first.
 * @throws GatewayError `invalid-request` for an unknown format
 */
export function chooseFormat(
  formats: readonly ClientFormat[],
  named: string | null,
  headers: Headers,
  body: JsonObject,
): ClientFormat {
  if (named === null)
    return (
      formats.find(({ client }) => hasHeaderOf(client, headers) || hasMemberOf(client, body)) ?? formats[0]!
    );
  const format = formats.find(({ id, client }) => id === named || dialectOf(client) === named);
  if (format) return format;
  const ids = namesOf(formats).join(", ");
  throw invalidRequest(`Unknown client format "${named.slice(0, 60)}"; known formats: ${ids}.`, "format");
}

/** The names of the formats, and of the dialects in which their clients ask for embeddings. */
export function namesOf(formats: readonly ClientFormat[]): string[] {
  return formats.flatMap(({ id, client }) => [id, dialectOf(client) ?? []].flat());
}

/** The dialect in which clients of a format ask for embeddings. */
export function dialectOf({ embeds = [] }: Pick<ClientCodec, "embeds">): string | undefined {
  return embeds[0]?.dialect;
}

function hasHeaderOf({ clientHeaders = [] }: ClientCodec, headers: Headers): boolean {
  return clientHeaders.some((name) => headers.has(name));
}

function hasMemberOf({ clientMembers = [] }: ClientCodec, body: JsonObject): boolean {
  return clientMembers.some((name) => name in body);
}
