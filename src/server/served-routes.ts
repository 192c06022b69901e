/**
 * The routes of the operations. An operation has a route at each of its paths; operations whose paths differ only in the method
 * at the end (`/v1beta/models/MODEL:generateContent`) share one, because a model name may contain slashes and colons.
 */
import type { ClientCodec, ClientRoutes } from "../core/format.ts";
import type { GatewayError } from "../core/error.ts";
import type { JsonObject } from "../core/json.ts";
import { unknownMethod } from "./misrouted.ts";
import { type Described, describeOperation } from "./openapi.ts";
import type { Operation } from "./operation.ts";
import { pathsOf } from "./operation.ts";

export interface ServedRoute {
  method: Operation["method"];
  /** The path of the operations, without the method at its end. */
  template: string;
  /** The OpenAPI operation; with a method at the end of the path the operations by method. Absent: the path is a further one. */
  detail?: JsonObject;
  /** `undefined` for a path without a method, where it needs one. */
  handle(request: Request): Response | Promise<Response> | undefined;
}

/** The answer to a request with an error. */
type Refuse = (request: Request, error: GatewayError) => Response;

export function servedRoutes(
  operations: readonly Operation[],
  api: Described,
  refuse: Refuse,
): ServedRoute[] {
  const routes = new Map<string, Operation[]>();
  for (const operation of operations.flatMap(pathsOf)) {
    const key = `${operation.method} ${templateOf(operation)}`;
    const sharing = routes.get(key);
    if (sharing) sharing.push(operation);
    else routes.set(key, [operation]);
  }
  const documented = new Set(operations.map(({ path }) => path));
  return [...routes.values()].map((sharing) => servedRoute(sharing, api, documented, refuse));
}

function servedRoute(
  sharing: readonly Operation[],
  api: Described,
  documented: ReadonlySet<string>,
  refuse: Refuse,
): ServedRoute {
  const [first] = sharing as [Operation];
  const route = { method: first.method, template: templateOf(first) };
  const isDocumented = documented.has(first.path);
  if (methodOf(first) === undefined)
    return {
      ...route,
      ...(isDocumented && { detail: describeOperation(first, api) }),
      handle: (request) => first.handle(request),
    };
  const byMethod = new Map(sharing.map((operation) => [methodOf(operation)!, operation]));
  const described = () => [...byMethod].map(([name, one]) => [name, describeOperation(one, api)] as const);
  return {
    ...route,
    ...(isDocumented && { detail: { methods: Object.fromEntries(described()) } }),
    handle(request) {
      const { pathname } = new URL(request.url);
      const name = requestedMethod(pathname);
      if (name === undefined) return undefined;
      const operation = byMethod.get(name);
      if (!operation) return refuse(request, unknownMethod(request, pathname, [...byMethod.keys()]));
      return operation.handle(request);
    },
  };
}

function templateOf({ path }: Operation): string {
  return path.replace(/(\{\+\w+\}):\w+$/, "$1");
}

/** The method in the path of an operation; `undefined` for other operations. */
function methodOf({ path }: Operation): string | undefined {
  return /\{\+\w+\}:(\w+)$/.exec(path)?.[1];
}

/** The method in the path of a request: what follows the last colon, which may be percent-encoded. */
function requestedMethod(path: string): string | undefined {
  return /(?::|%3A)(\w+)$/i.exec(path)?.[1];
}

/** The part of a path that other bases of a format replace. */
const BASE = "/v1";

/** The other paths of an operation of a format. @param path the first one */
export function aliasesOf(
  { address, bases = [], ownBases = [] }: ClientRoutes,
  path: string,
): readonly string[] {
  if (!address) return [...bases, ...ownBases].map((base) => base + path.slice(BASE.length));
  const [first = "", ...others] = address.bases;
  return others.map((base) => base + path.slice(first.length));
}

/** The other paths of an operation that belongs to no format: at the bases of all formats that contain no model name. */
export function commonAliases(formats: readonly { client: ClientCodec }[], path: string): readonly string[] {
  const bases = new Set(formats.flatMap(({ client }) => client.routes.bases ?? []));
  return [...bases].filter((base) => !base.includes("{")).map((base) => base + path.slice(BASE.length));
}
