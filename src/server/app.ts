/**
 * The HTTP routes, on Elysia, one for each operation. Each declares its schemas as the `detail` of its route, which is the
 * operation of the OpenAPI document; weir itself reads, validates and answers the request (`parse: "none"`), because Elysia
 * would drop unknown members, answer errors in its own shape, and end a broken stream regularly.
 */
import type { TSchema } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { CallHeader } from "../core/call-header.ts";
import { GatewayError } from "../core/error.ts";
import type { ClientCodec, ClientRoutes, Format } from "../core/format.ts";
import type { OpenedSocket } from "./web-sockets.ts";
import type { OwnRoute, Visit } from "../gateway/seams.ts";
import { isHostHeader, isKnownHost } from "../core/host-names.ts";
import type { JsonObject } from "../core/json.ts";
import { limitText } from "../core/printable.ts";
import { AliasRoutes } from "./alias-routes.ts";
import { type CorsOptions, withCors } from "./cors.ts";
import { challenging } from "./challenge.ts";
import { clientCodecOf, ownerOf } from "./choose-format.ts";
import { assertScope } from "./key-scope.ts";
import { misrouted } from "./misrouted.ts";
import type { DeclaredRoute } from "./openapi.ts";
import { keyHeadersOf, openApiDocument, routePath, schemasOf } from "./openapi.ts";
import type { ClientFormat, Operation, Parameter, Schema } from "./operation.ts";
import { MODEL_ID } from "./parameters.ts";
import { AllowedMethods } from "./operation.ts";
import { listOperations } from "./operations.ts";
import { KEY_HEADERS, type Places } from "./presented.ts";
import { readPlain, readStream } from "./read-body.ts";
import { createRequestId, respondError } from "./respond.ts";
import { servedRoutes } from "./served-routes.ts";
import type { RouteContext } from "./routes/generate.ts";

export interface AppOptions extends RouteContext {
  /** Headers of calls that features declare. Default: none. */
  headers?: readonly CallHeader[];
  cors: CorsOptions;
  /** Whether weir listens with TLS. */
  secure: boolean;
  /** Whether weir has gateway keys. */
  keyed: boolean;
  /** Answers a request by a WebSocket; absent: nothing listens. */
  upgrade?(request: Request, protocol: string | undefined, opened: OpenedSocket): boolean;
  /** The names by which clients may address weir, besides those of this machine; absent: all. */
  names?: readonly string[];
  version: string;
  /** The answer of `/health`. */
  state(): "starting" | "ok" | "draining";
  /** Parts that do not work at the moment, while calls go on: `ledger`. */
  degraded?(): readonly string[];
}

export function createApp(options: AppOptions) {
  const { gateway, life, version, keyed, headers = [] } = options;
  const hasForms = life.credentials !== undefined;
  const formats = [...gateway.registry.formats.values()].filter(hasClient);
  const codecOf = (request: Request) => clientCodecOf(formats, request, pathOf(request), methods.paths);
  let known: JsonObject | undefined;
  const document = () => (known ??= describeApi());
  const operations: readonly Operation[] = [
    ...listOperations(formats, { ...options, headers, codecOf, document }),
    ...ownOperations(life.routes, formats, options, codecOf),
  ];
  const methods = new AllowedMethods(operations);

  // Elysia searches the path from the 7th character of the URL, or with this option from the 11th: `https://` is longer.
  const handler = { standardHostname: options.secure };
  const app = new Elysia({ normalize: false, strictPath: true, handler });
  /** Only a client that asks for the document needs the schemas: they would be milliseconds of every start. */
  const describeApi = () => {
    const schemas = schemasOf(operations);
    app.model(copies(schemas));
    const keyHeaders = keyed ? [...new Set(operations.flatMap(keyHeadersOf))] : [];
    return openApiDocument(routesOf(app), { schemas, version, keyHeaders, headers });
  };
  const refuse = (request: Request, error = misrouted(request, pathOf(request), methods)) =>
    respondError(error, codecOf(request), createRequestId());
  const served = servedRoutes(operations, { keyed, hasForms, headers }, refuse);
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

  const { names } = options;
  let lastKnown: string | undefined;
  const foreignHost = (host: string): GatewayError | undefined => {
    if (names === undefined || host === lastKnown) return undefined;
    if (!isKnownHost(host, names)) return unknownHost(host);
    lastKnown = host;
    return undefined;
  };

  /** Elysia's handler, after a check of host and target. */
  const fetch = (request: Request): Response | Promise<Response> => {
    const host = request.headers.get("host");
    const fault = requestFault(request, host) ?? foreignHost(host ?? "");
    if (fault) return respondError(fault, codecOf(request), createRequestId());
    return app.fetch(request);
  };
  return { fetch: withCors(options.cors, fetch), neutral: formats[0]!.client, routes: () => routesOf(app) };
}

/** The operations of features. They check by themselves who asks. */
function ownOperations(
  routes: readonly OwnRoute[] = [],
  formats: readonly ClientFormat[],
  options: AppOptions,
  codecOf: (request: Request) => ClientCodec,
): Operation[] {
  const everywhere = [
    ...new Set([...KEY_HEADERS, ...formats.flatMap(({ client }) => client.routes.keyHeaders ?? [])]),
  ];
  const keyHeadersAt = ({ method, path }: OwnRoute) => {
    const owner = ownerOf(formats, method, path);
    return owner ? (owner.client.routes.keyHeaders ?? KEY_HEADERS) : everywhere;
  };
  return routes.map((route) => ({
    ...route,
    ...(route.isShared ? { access: "key", keyHeaders: keyHeadersAt(route) } : { access: "anyone" }),
    ...{ formats, errors: [], parameters: parametersIn(route.path) },
    async handle(request) {
      try {
        return await route.handle(
          request,
          visitOf(request, () => codecOf(request).routes, route, options),
        );
      } catch (thrown) {
        // Elysia would answer with the text of the message alone.
        return respondError(GatewayError.from(thrown), codecOf(request), createRequestId());
      }
    },
  }));
}

/** The rest of a path, which the document names. */
function parametersIn(path: string): readonly Parameter[] {
  const [, name] = /\{\+(\w+)\}/.exec(path) ?? [];
  return name === undefined ? [] : [{ ...MODEL_ID, name }];
}

function visitOf(
  request: Request,
  routes: () => ClientRoutes,
  { isShared }: OwnRoute,
  { address, authenticate, limits, gateway, allowSilence, life, upgrade }: AppOptions,
): Visit {
  const places: Places = isShared ? routes() : {};
  const issued = life.credentials?.find((form) => form.issued)?.issued;
  return {
    ...{ address: address(request), issued },
    get vendor() {
      return routes().vendor ?? "openai";
    },
    async caller(endpoint, resource) {
      const asking = async () => authenticate(request, places, resource);
      const principal = await (resource ? challenging(asking, resource, issued) : asking());
      assertScope(principal, endpoint, () => address(request));
      return principal;
    },
    async callerWith(credential, endpoint) {
      const presented = new Request(request.url, { headers: { authorization: `Bearer ${credential}` } });
      const principal = await authenticate(presented, {});
      assertScope(principal, endpoint, () => address(request));
      return principal;
    },
    screenTools: async (principal) => life.screenTools?.(principal),
    browser: async (to) => life.browsers?.(request, to),
    body: (most) => readPlain(request, { ...limits, bodyBytes: most }, gateway.clock),
    stream: (most) => readStream(request, { ...limits, bodyBytes: most }, gateway.clock),
    upgrade(protocol, opened) {
      if (upgrade?.(request, protocol, opened)) return new Response(null);
      throw new GatewayError("invalid-request", "The route serves WebSockets: send an upgrade.", {
        ...{
          status: 426,
          headers: { upgrade: "websocket", connection: "upgrade" },
        },
      });
    },
    allowSilence: () => allowSilence(request, true),
  };
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

/** Limit of a Host header in an error. Bytes. */
const MAX_HOST_BYTES = 200;

/** The last valid Host header: most requests have the same. */
let lastHost: string | undefined;

function requestFault({ url }: Request, host: string | null): GatewayError | undefined {
  // A request target has no fragment (RFC 9112 3.2), and parsers would disagree about its path.
  if (url.includes("#")) return ambiguous("The path of the request must not contain a #; write it as %23.");
  if (host !== null && (host === lastHost || isHostHeader(host))) {
    lastHost = host;
    return undefined;
  }
  return ambiguous("The request must have exactly one valid Host header.");
}

/** A page of the browser may have made the request, through DNS rebinding. */
function unknownHost(host: string): GatewayError {
  return new GatewayError(
    "permission",
    `weir does not answer to the host ${limitText(host, MAX_HOST_BYTES)}; send the request to an address or to localhost, or let the operator list the name in the option names.`,
    { code: "host_not_allowed" },
  );
}

/** Also closes the connection: after an ambiguous request, weir cannot trust where the next one begins (request smuggling). */
function ambiguous(message: string): GatewayError {
  return new GatewayError("invalid-request", message, { headers: { connection: "close" } });
}

function pathOf(request: Request): string {
  const url = URL.canParse(request.url) ? new URL(request.url) : undefined;
  return url?.pathname ?? "";
}
