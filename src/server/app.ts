/**
 * The HTTP routes, on Elysia, one for each operation. Each declares its schemas as the `detail` of its route, which is the
 * operation of the OpenAPI document; weir itself reads, validates and answers the request (`parse: "none"`), because Elysia
 * would drop unknown members, answer errors in its own shape, and end a broken stream regularly.
 */
import type { TSchema } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { GatewayError } from "../core/error.ts";
import type { Format } from "../core/format.ts";
import type { JsonObject } from "../core/json.ts";
import { AliasRoutes } from "./alias-routes.ts";
import { type CorsOptions, withCors } from "./cors.ts";
import { clientCodecOf } from "./choose-format.ts";
import { misrouted } from "./misrouted.ts";
import type { DeclaredRoute } from "./openapi.ts";
import { keyHeadersOf, openApiDocument, routePath, schemasOf } from "./openapi.ts";
import type { ClientFormat, Schema } from "./operation.ts";
import { AllowedMethods } from "./operation.ts";
import { listOperations } from "./operations.ts";
import { createRequestId, respondError } from "./respond.ts";
import { servedRoutes } from "./served-routes.ts";
import type { RouteContext } from "./routes/generate.ts";

export interface AppOptions extends RouteContext {
  cors: CorsOptions;
  /** Whether weir listens with TLS. */
  secure: boolean;
  /** Whether weir has gateway keys. */
  keyed: boolean;
  version: string;
  /** Whether weir accepts new calls; false while it drains before it stops. */
  ready(): boolean;
  /** Parts that do not work at the moment, while calls go on: `ledger`. */
  degraded?(): readonly string[];
}

export function createApp(options: AppOptions) {
  const { gateway, version, keyed } = options;
  const formats = [...gateway.registry.formats.values()].filter(hasClient);
  const codecOf = (request: Request) => clientCodecOf(formats, request, pathOf(request), methods.paths);
  let known: JsonObject | undefined;
  const document = () => (known ??= describeApi());
  const operations = listOperations(formats, { ...options, codecOf, document });
  const methods = new AllowedMethods(operations);

  // Elysia searches the path from the 7th character of the URL, or with this option from the 11th: `https://` is longer.
  const handler = { standardHostname: options.secure };
  const app = new Elysia({ normalize: false, strictPath: true, handler });
  /** Only a client that asks for the document needs the schemas: they would be milliseconds of every start. */
  const describeApi = () => {
    const schemas = schemasOf(operations);
    app.model(copies(schemas));
    const keyHeaders = keyed ? [...new Set(operations.flatMap(keyHeadersOf))] : [];
    return openApiDocument(routesOf(app), schemas, version, keyHeaders);
  };
  const refuse = (request: Request, error = misrouted(request, pathOf(request), methods)) =>
    respondError(error, codecOf(request), createRequestId());
  const served = servedRoutes(operations, keyed, refuse);
  const aliases = new AliasRoutes(served.filter(({ detail }) => !detail));
  for (const { method, template, detail, handle } of served)
    if (detail)
      app.route(method, routePath(template), ({ request }) => handle(request) ?? refuse(request), {
        parse: "none",
        detail,
      });
  app.all("*", ({ request }) => aliases.answer(request, pathOf(request)) ?? refuse(request), {
    parse: "none",
    detail: { hide: true },
  });
  app.onError(({ error, request }) =>
    respondError(GatewayError.from(error), codecOf(request), createRequestId()),
  );

  /** Elysia's handler, after a check of host and target. */
  const fetch = (request: Request): Response | Promise<Response> => {
    const fault = requestFault(request);
    if (fault) return respondError(fault, codecOf(request), createRequestId());
    return app.fetch(request);
  };
  return { fetch: withCors(options.cors, fetch), neutral: formats[0]!.client, routes: () => routesOf(app) };
}

/**
 * Copies without the symbols of TypeBox: Elysia writes an `$id` into its models that is not valid in the document, and takes
 * milliseconds to read those of TypeBox.
 */
function copies(schemas: Readonly<Record<string, Schema>>): Record<string, TSchema> {
  return JSON.parse(JSON.stringify(schemas)) as Record<string, TSchema>;
}

/** The routes that Elysia knows. */
function routesOf({ routes }: Pick<Elysia, "routes">): DeclaredRoute[] {
  return routes.map(({ method, path, hooks }) => ({ method, path, detail: hooks.detail as JsonObject }));
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

/** The last valid Host header: most requests have the same. */
let lastHost: string | undefined;

function requestFault(request: Request): GatewayError | undefined {
  // A request target has no fragment (RFC 9112 3.2), and parsers would disagree about its path.
  if (request.url.includes("#"))
    return ambiguous("The path of the request must not contain a #; write it as %23.");
  const host = request.headers.get("host");
  if (host !== null && (host === lastHost || HOST.test(host))) {
    lastHost = host;
    return undefined;
  }
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
