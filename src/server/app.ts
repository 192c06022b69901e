/**
 * The HTTP routes, on Elysia. The generating routes take the raw request (`parse: "none"`): weir itself reads, validates and
 * answers it, because Elysia would drop unknown members, answer errors in its own shape, and end a broken stream regularly.
 */
import { Elysia } from "elysia";
import { GatewayError } from "../core/error.ts";
import type { ClientCodec, Format } from "../core/format.ts";
import type { TSchema } from "@sinclair/typebox";
import { type CorsOptions, withCors } from "./cors.ts";
import { clientCodecOf } from "./choose-format.ts";
import { misrouted } from "./misrouted.ts";
import { openApiDocument, schemaName } from "./openapi.ts";
import { createRequestId, respond, respondError, respondJson } from "./respond.ts";
import type { RouteContext } from "./routes/generate.ts";
import { explainRoute } from "./routes/explain.ts";
import { countRoute, generateRoute } from "./routes/generate.ts";
import { listModels, retrieveModel } from "./routes/models.ts";

type ClientFormat = Format & { client: ClientCodec };

export interface AppOptions extends RouteContext {
  cors: CorsOptions;
  /** Whether weir listens with TLS. */
  secure: boolean;
  version: string;
  /** Whether weir accepts new calls; false while it drains before it stops. */
  ready(): boolean;
}

export function createApp(options: AppOptions) {
  const { gateway, authenticate, version } = options;
  const formats = [...gateway.registry.formats.values()].filter(hasClient);
  const methods = allowedMethods(formats);
  const codecOf = (request: Request) => clientCodecOf(formats, request, pathOf(request), methods);

  /**
   * A route without a body: checks the key, unless it is open, then answers. Errors have the client's format, as its headers
   * show it.
   */
  const guarded = (open: boolean, answer: (request: Request) => unknown) => async (request: Request) => {
    const id = createRequestId();
    try {
      if (!open) authenticate(request.headers, "");
      const value = await answer(request);
      return value instanceof Response ? value : respondJson(value, id);
    } catch (thrown) {
      return respondError(GatewayError.from(thrown), codecOf(request), id);
    }
  };

  const document = openApiDocument(formats, version);
  // Elysia searches the path from the 7th character of the URL, or with this option from the 11th: `https://` is longer.
  const handler = { standardHostname: options.secure };
  const app = new Elysia({ normalize: false, strictPath: true, handler });
  app.model(
    Object.fromEntries(
      formats.map(({ id, client }) => [schemaName(id), client.schema as unknown as TSchema]),
    ),
  );

  for (const format of formats) {
    const generate = generateRoute(format, options);
    app.post(format.client.path, ({ request }) => generate(request), { parse: "none" });
    if (format.client.countPath === undefined) continue;
    const count = countRoute(format, options);
    app.post(format.client.countPath, ({ request }) => count(request), { parse: "none" });
  }
  const explain = explainRoute(formats, options);
  app.post("/v1/explain", ({ request }) => explain(request), { parse: "none" });

  const health = guarded(true, () => {
    const ready = options.ready();
    const state = { status: ready ? "ok" : "draining", version };
    return respondJson(state, createRequestId(), ready ? 200 : 503);
  });
  const list = guarded(false, (request) => listModels(gateway.registry, new URL(request.url).searchParams));
  const retrieve = guarded(false, (request) => retrieveModel(gateway.registry, modelId(request)));
  const openapi = guarded(false, () => document);
  const hello = guarded(true, () => ({ name: "weir", version, openapi: "/openapi.json" }));
  const empty = guarded(true, () => respond({ status: 200, headers: {}, body: "" }, createRequestId()));

  app
    .get("/health", ({ request }) => health(request))
    .get("/v1/models", ({ request }) => list(request))
    .get("/v1/models/*", ({ request }) => retrieve(request))
    .get("/openapi.json", ({ request }) => openapi(request))
    .get("/", ({ request }) => hello(request))
    .get("/api/hello", ({ request }) => hello(request))
    .head("/", ({ request }) => empty(request))
    .head("/api/hello", ({ request }) => empty(request));

  app.all(
    "*",
    ({ request }) =>
      respondError(misrouted(request, pathOf(request), methods), codecOf(request), createRequestId()),
    {
      parse: "none",
    },
  );
  app.onError(({ error, request }) =>
    respondError(GatewayError.from(error), codecOf(request), createRequestId()),
  );

  /** Elysia's handler, after a check of host and target. */
  const fetch = (request: Request): Response | Promise<Response> => {
    const fault = requestFault(request);
    if (fault) return respondError(fault, codecOf(request), createRequestId());
    return app.fetch(request);
  };
  return { fetch: withCors(options.cors, fetch), neutral: formats[0]!.client };
}

function hasClient(format: Format): format is ClientFormat {
  return format.client !== undefined;
}

/**
 * A valid Host header. Two headers arrive joined by a comma (RFC 9112 3.2 requires a 400); with other forms, or a port above
 * 65535, the URL could not be parsed.
 */
const HOST =
  /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?:[0-5]?\d{1,4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]))?$/;

function requestFault(request: Request): GatewayError | undefined {
  // A request target has no fragment (RFC 9112 3.2), and parsers would disagree about its path.
  if (request.url.includes("#"))
    return ambiguous("The path of the request must not contain a #; write it as %23.");
  const host = request.headers.get("host");
  if (host !== null && HOST.test(host)) return undefined;
  return ambiguous("The request must have exactly one valid Host header.");
}

/** Also closes the connection: after an ambiguous request, weir cannot trust where the next one begins (request smuggling). */
function ambiguous(message: string): GatewayError {
  return new GatewayError("invalid-request", message, { headers: { connection: "close" } });
}

function pathOf(request: Request): string {
  const url = URL.canParse(request.url) ? new URL(request.url) : undefined;
  return url?.pathname ?? "";
}

function modelId(request: Request): string {
  const encoded = pathOf(request).slice("/v1/models/".length);
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function allowedMethods(formats: readonly ClientFormat[]): ReadonlyMap<string, string> {
  return new Map([
    ...formats.map(({ client }): [string, string] => [client.path, "POST"]),
    ...formats.flatMap(({ client: { countPath } }): [string, string][] =>
      countPath === undefined ? [] : [[countPath, "POST"]],
    ),
    ["/v1/explain", "POST"],
    ["/health", "GET"],
    ["/v1/models", "GET"],
    ["/openapi.json", "GET"],
    ["/", "GET, HEAD"],
    ["/api/hello", "GET, HEAD"],
  ]);
}
