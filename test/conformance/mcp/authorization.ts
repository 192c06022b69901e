/** The suite's scenarios for authorization servers, at weir's own: a person permits in the browser what the suite asks for. */
import { freePort, type Serving, serve, until } from "../../helpers/serving.ts";
import { permitAll } from "./browser.ts";
import type { Installed } from "./install.ts";
import { CLIENT, GROUP, startPeople } from "./people.ts";
import { type Checks, REVISIONS, type Revision, runAuthorizationSuite, type Scenario } from "./suite.ts";
import { type Column, groupsOf, verdictTable } from "./verdicts.ts";

/** The requirements of a revision do not have these: they are the same for all revisions. */
const SCENARIOS: readonly Scenario[] = [
  { name: "authorization-server-metadata-endpoint" },
  { name: "authorization-code-grant" },
];

/** Paths of the listener for people, as proxies in front of weir have them. */
const FOR_PEOPLE = /^\/(auth|console|admin)(\/|$)|^\/oauth\/authorize$/;

interface Place {
  readonly installed: Installed;
  /** Address of weir, and its issuer. */
  readonly url: string;
  /** Address of a program of people that is known by its document. */
  readonly document: string;
  /** Where the suite waits for the browser. */
  readonly port: number;
}

/** @returns the table, and what fails */
export async function judgeAuthorization(
  installed: Installed,
): Promise<{ text: string; failed: readonly string[] }> {
  const people = await startPeople();
  const ports = { people: freePort(), suite: freePort() };
  const documents = serveDocument(ports.suite);
  let gateway: Serving | undefined;
  const proxy = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch: (request) => handOn(request, gateway?.url ?? "", `http://127.0.0.1:${ports.people}`),
  });
  const url = `http://127.0.0.1:${proxy.port}`;
  try {
    const config = JSON.stringify(configOf(url, people.issuer, new URL(documents.url).host, ports.people));
    gateway = await serve({ workers: 1, config });
    const metadata = `${url}/.well-known/oauth-authorization-server`;
    await until(async () => (await fetch(metadata)).ok && (await fetch(`${url}/auth/`)).ok);
    return await judge({ installed, url, document: documents.url, port: ports.suite });
  } finally {
    await gateway?.end();
    await Promise.all([proxy.stop(true), documents.stop(), people.stop()]);
  }
}

async function judge(place: Place): Promise<{ text: string; failed: readonly string[] }> {
  const columns: Column[] = [];
  const failed: string[] = [];
  const clients = { registered: await register(place), "by its document": place.document };
  for (const revision of REVISIONS)
    for (const [how, client] of Object.entries(clients)) {
      const checks = await checksOf(place, client, revision);
      columns.push({ title: `${revision}, client ${how}`, checks, groups: groupsOf(SCENARIOS) });
      for (const { name } of SCENARIOS) {
        const bad = checks.get(name)?.filter(({ status }) => status !== "SUCCESS");
        const why = bad?.map((one) => `${one.id}: ${one.status} ${one.errorMessage ?? ""}`).join("; ");
        if (why !== "") failed.push(`${revision}, client ${how}, ${name}: ${why ?? "did not run"}`);
      }
    }
  const text = `weir's own authorization server: ${failed.length} scenarios fail.\n\n${verdictTable(columns)}`;
  return { text, failed };
}

function checksOf({ installed, url, port }: Place, client: string, revision: Revision): Promise<Checks> {
  const words = ["--url", url, "--client-id", client, "--resource", `${url}/mcp/suite`];
  return runAuthorizationSuite(installed, [...words, "--port", String(port)], revision, SCENARIOS, (line) => {
    // Without an answer it would wait for minutes.
    if (line.startsWith(`${url}/oauth/authorize?`))
      permitAll(line).catch((thrown: unknown) =>
        fetch(`${backAt(port)}?error=${encodeURIComponent(String(thrown))}`),
      );
  });
}

const backAt = (port: number) => `http://127.0.0.1:${port}/callback`;

function configOf(url: string, issuer: string, documents: string, port: number): object {
  return {
    ...{ admin: { port }, state: "state" },
    // No call reaches it.
    tools: { servers: { suite: { url: "http://127.0.0.1:9/mcp", allow: ["*"] } } },
    identity: {
      ...{ url, tokens: { secret: "planted-secret-of-weirs-own-tokens-0001" } },
      clients: { dcr: true, hosts: [documents] },
      providers: { people: { issuer, ...CLIENT, groups: { [GROUP]: { member: "/eng" } } } },
    },
  };
}

const describing = (port: number) => ({
  ...{ client_name: "the suite", redirect_uris: [backAt(port)] },
  ...{ token_endpoint_auth_method: "none", grant_types: ["authorization_code"], response_types: ["code"] },
});

/** @returns id of the program @throws Error where weir refuses it */
async function register({ url, port }: Place): Promise<string> {
  const body = JSON.stringify(describing(port));
  const answer = await fetch(`${url}/oauth/register`, { method: "POST", body });
  const { client_id: id } = (await answer.json()) as { client_id?: string };
  if (id === undefined) throw new Error(`weir registers no program: ${answer.status}`);
  return id;
}

function serveDocument(port: number) {
  const server = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch: ({ url: client_id }) => Response.json({ client_id, ...describing(port) }),
  });
  return { url: `http://127.0.0.1:${server.port}/client.json`, stop: () => server.stop(true) };
}

/** weir has a listener for people and one for programs; a proxy gives both one name. */
async function handOn(request: Request, programs: string, people: string): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method, headers } = request;
  const target = (FOR_PEOPLE.test(pathname) ? people : programs) + pathname + search;
  const body = method === "GET" ? undefined : await request.arrayBuffer();
  return fetch(target, { method, headers, redirect: "manual", decompress: false, ...(body && { body }) });
}
