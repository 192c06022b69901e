/** The endpoints of tools as resources of OAuth: the credentials that they take, and the documents that say where programs get some (RFC 9728). */
import { GatewayError } from "../../../core/error.ts";
import type { OwnRoute, Resource, Visit } from "../../../gateway/seams.ts";
import { SERVER_NAME } from "../section.ts";

/** Their name in the scope `endpoints` of keys. */
export const ENDPOINT = "tools";

const ALL = "/mcp";
const DOCUMENTS = "/.well-known/oauth-protected-resource";

/** @param server one server; absent: all */
export function resourceOf(server?: string): Resource {
  // Challenges have the path in a header.
  if (server === undefined || !SERVER_NAME.test(server)) return { path: ALL, scopes: ["tools"] };
  return { path: `${ALL}/${server}`, scopes: ["tools", `tools:${server}`] };
}

export function documentRoutes(): OwnRoute[] {
  const route = (end: string, id: string, what: string): OwnRoute => ({
    ...{ method: "GET", path: DOCUMENTS + end, id },
    summary: `Where programs get tokens for ${what} (RFC 9728)`,
    handle: (request, visit) => document(pathIn(request), visit),
  });
  return [
    route("", "protectedResource", "weir"),
    route(ALL, "protectedTools", "all servers of tools"),
    route(`${ALL}/{server}`, "protectedServer", "one server of tools"),
  ];
}

function pathIn({ url }: Request): string {
  return new URL(url).pathname.slice(DOCUMENTS.length);
}

/** The same for every name: who may not use a server does not learn that there is one. @throws GatewayError */
function document(path: string, { issued }: Visit): Response {
  const isName = path === "" || path === ALL || SERVER_NAME.test(path.slice(ALL.length + 1));
  if (!issued || !isName)
    throw new GatewayError("not-found", "Programs get no tokens for this here; use a key of the gateway.");
  const { url, by } = issued;
  const body = {
    ...{ resource: url + path, authorization_servers: by, scopes_supported: ["tools"] },
    ...{ bearer_methods_supported: ["header"], resource_name: "weir" },
  };
  const headers = { "cache-control": "public, max-age=300", "access-control-allow-origin": "*" };
  return Response.json(body, { headers });
}
