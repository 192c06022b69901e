/** The documents of the endpoints of tools, and how a route names its resource. */
import { expect, test } from "bun:test";
import { GatewayError } from "../../../core/error.ts";
import type { Visit } from "../../../gateway/seams.ts";
import { documentRoutes, resourceOf } from "../auth/resources.ts";

const PLACE = "/.well-known/oauth-protected-resource";
const ISSUED = { url: "https://weir.corp.example", by: ["https://login.corp.example"] };

const ask = async (end: string, issued?: Visit["issued"]) => {
  const [route] = documentRoutes();
  const answer = await route!.handle(new Request(`http://127.0.0.1${PLACE}${end}`), { issued } as Visit);
  return answer.json() as Promise<unknown>;
};

test("programs that get no tokens find no document", async () => {
  for (const end of ["", "/mcp", "/mcp/files"]) {
    const thrown = await ask(end).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(GatewayError);
    expect((thrown as GatewayError).status).toBe(404);
  }
});

test("a document names the resource as the gateway is known, and the authorization servers", async () => {
  expect(await ask("/mcp/files", ISSUED)).toEqual({
    resource: "https://weir.corp.example/mcp/files",
    authorization_servers: ["https://login.corp.example"],
    scopes_supported: ["tools"],
    bearer_methods_supported: ["header"],
    resource_name: "weir",
  });
});

test("a route at what is no name of a server names all servers: challenges have the path in a header", () => {
  expect(resourceOf("files")).toEqual({ path: "/mcp/files", scopes: ["tools", "tools:files"] });
  for (const name of [undefined, 'a"b', "a\r\nset-cookie: x", "", "A"])
    expect(resourceOf(name)).toEqual({ path: "/mcp", scopes: ["tools"] });
});
