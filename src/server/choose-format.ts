/** Determines the client's format where the path does not. */
import { hasRequests, type KindRoute, type KnownKind, type ModelKind } from "../core/model-kind.ts";
import { GatewayError, invalidRequest } from "../core/error.ts";
import type { Beside, ClientCodec, ClientRoutes, Format, RequestCheck } from "../core/format.ts";
import type { JsonObject } from "../core/json.ts";
import type { UrlAddress } from "../core/url-address.ts";
import { likelyPath } from "./misrouted.ts";

type ClientFormat = Format & { client: ClientCodec };

/**
 * The client codec for an error, and for an answer at a path that vendors share: by the route that the client used or meant, else
 * by its headers, else by what only the URLs of a format have, else the first format.
 */
export function clientCodecOf(
  formats: readonly ClientFormat[],
  request: Request,
  path: string,
  paths: Iterable<string>,
): ClientCodec {
  const route = likelyPath(path, paths) ?? path;
  return (ownerOf(formats, request.method, path, route) ?? formatOfShared(formats, request, path)).client;
}

/** The format whose clients alone use a path. @param route the path that the client meant */
export function ownerOf(
  formats: readonly ClientFormat[],
  method: string,
  path: string,
  route = path,
): ClientFormat | undefined {
  return (
    formats.find(
      ({ client }) => route === client.routes.path || route.startsWith(`${client.routes.path}/`),
    ) ??
    formats.find(({ client }) => isAddressed(client.routes, method, path)) ??
    formats.find(({ client }) => client.routes.prefixes?.some((beginning) => route.startsWith(beginning)))
  );
}

/** A method at the end of a path: `/v1/files/abc:download`. */
const METHOD_AT_END = /(?::|%3A)\w+$/i;

/** The format of a request at a path that clients of several formats use. */
function formatOfShared(
  formats: readonly ClientFormat[],
  { headers, url }: Request,
  path: string,
): ClientFormat {
  const byHeader = formats.filter(({ client }) => hasHeaderOf(client.routes, headers));
  const found =
    byHeader.find(({ client }) => !client.routes.address) ??
    byHeader[0] ??
    formats.find(({ client: { routes } }) => routes.address && isOfAddress(routes.address, url, path));
  return found ?? formats[0]!;
}

/** Whether a URL has a method, or a credential where only such formats have one. */
function isOfAddress({ keyParameter }: UrlAddress, url: string, path: string): boolean {
  if (METHOD_AT_END.test(path)) return true;
  return url.includes("?") && URL.canParse(url) && new URL(url).searchParams.has(keyParameter);
}

/** Whether only clients of the format use the path; others ask for models below `/v1/models` too, but never with POST. */
function isAddressed({ address }: ClientRoutes, method: string, path: string): boolean {
  if (!address) return false;
  const beginnings = method === "POST" ? [...address.prefixes, ...address.bases] : address.prefixes;
  return beginnings.some((beginning) => path.startsWith(beginning));
}

/** The format whose clients send such headers, else the first format. */
export function formatOfHeaders(formats: readonly ClientFormat[], headers: Headers): ClientFormat {
  return formats.find(({ client }) => hasHeaderOf(client.routes, headers)) ?? formats[0]!;
}

/** What a request asks of a kind, and on which route. */
export interface KindAsk {
  kind: ModelKind;
  route: KindRoute;
}

/** The format of a request, and whether it asks for embeddings or for something of a kind. */
export interface ChosenFormat {
  format: ClientFormat;
  embeds: boolean;
  asks?: KindAsk;
}

/**
 * The named format, by its id, by that of its dialect of embeddings or by a path that its clients ask; without a name, the one
 * that alone fits the headers or the body.
 * @throws GatewayError `invalid-request` for an unknown format, and for a body that fits several
 */
export function chooseFormat(
  formats: readonly ClientFormat[],
  named: string | null,
  headers: Headers,
  body: JsonObject,
  kinds: Iterable<KnownKind> = [],
): ChosenFormat {
  if (named === null) return { format: formatOfRequest(formats, headers, body), embeds: false };
  for (const format of formats) {
    const { id, client } = format;
    if (id === named || isServedAt(client.routes, named)) return { format, embeds: false };
    const { embeds = [] } = client.beside;
    if (embeds.some(({ dialect, path }) => dialect === named || path === named))
      return { format, embeds: true };
  }
  for (const kind of [...kinds].filter(hasRequests))
    for (const route of kind.routes)
      if ([route.operation, route.path, ...(route.aliases ?? [])].includes(named))
        return { format: formats[0]!, embeds: false, asks: { kind, route } };
  const ids = namesOf(formats).join(", ");
  throw invalidRequest(
    `Unknown client format "${named.slice(0, 60)}"; known formats: ${ids}. The path that a client asks names a format as well.`,
    "format",
  );
}

function isServedAt({ path, address }: ClientRoutes, named: string): boolean {
  return path === named || (named.startsWith("/") && address?.modelOf(named) !== undefined);
}

function formatOfRequest(formats: readonly ClientFormat[], headers: Headers, body: JsonObject): ClientFormat {
  const byHeader = formats.find(({ client }) => hasHeaderOf(client.routes, headers));
  if (byHeader) return byHeader;
  const fitting = formats.filter(({ client }) => accepts(client.request, body));
  const own = fitting.filter(({ client }) => hasMemberOf(client.routes, body));
  // A format that accepts everything says nothing by accepting the body.
  const others = fitting.filter(({ client }) => !accepts(client.request, { model: body["model"] ?? "m" }));
  const candidates = own.length > 0 ? own : others;
  if (candidates.length > 1)
    throw invalidRequest(
      `The request fits several formats: ${candidates.map(({ id }) => id).join(", ")}. Name its format or the path that ` +
        "the client asks (`--format /v1/messages`, `?format=messages`).",
      "format",
    );
  // Of a body that fits no format, the one that it resembles says what is wrong.
  return candidates[0] ?? formats.find(({ client }) => hasMemberOf(client.routes, body)) ?? formats[0]!;
}

function accepts({ checkRequest }: RequestCheck, body: JsonObject): boolean {
  const check: RequestCheck["checkRequest"] = checkRequest;
  try {
    check(body);
    return true;
  } catch (thrown) {
    if (thrown instanceof GatewayError) return false;
    throw thrown;
  }
}

/** The names of the formats, and of the dialects in which their clients ask for embeddings. */
export function namesOf(formats: readonly ClientFormat[]): string[] {
  return formats.flatMap(({ id, client }) => [id, dialectOf(client.beside) ?? []].flat());
}

/** The dialect in which clients of a format ask for embeddings. */
export function dialectOf({ embeds = [] }: Beside): string | undefined {
  return embeds[0]?.dialect;
}

function hasHeaderOf({ clientHeaders = [] }: ClientRoutes, headers: Headers): boolean {
  return clientHeaders.some((name) => headers.has(name));
}

function hasMemberOf({ clientMembers = [] }: ClientRoutes, body: JsonObject): boolean {
  return clientMembers.some((name) => name in body);
}
