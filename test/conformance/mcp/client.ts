/**
 * What the official suite runs as a client: `bun client.ts URL`. It starts weir with the server at the URL, and does everything
 * that the server offers, as a client of weir with a session: so it is weir that talks to the suite, and weir that answers rounds of input. The suite says in `MCP_CONFORMANCE_CONTEXT`
 * what a scenario wants beside that.
 */
import { freePort, serve } from "../../helpers/serving.ts";
import { connectAccount } from "./browser.ts";
import { legacyPeer, type Members, type Peer, PeerError, type PeerOptions, type Respond } from "./peer.ts";

/** Ports that systems give to servers which ask for any. */
const FIRST_PORT = 32_768;
const DOCUMENT = "https://conformance-test.local/client-metadata.json";

interface Tool {
  readonly name: string;
  readonly inputSchema: Members;
}

interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly toolCalls?: readonly { name: string; arguments: Members }[];
}

const url = process.argv.at(-1)!;
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Context;
// The suite wants the lifecycle of the revision that it runs.
const era = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"] === "2026-07-28" ? "modern" : "legacy";

/** Answers every question with its defaults, or with what its type allows. */
const respond: Respond = (method, params) => {
  if (method === "roots/list") return { roots: [] };
  if (method === "sampling/createMessage")
    return { role: "assistant", model: "none", content: { type: "text", text: "sampled" } };
  return { action: "accept", content: filled(params["requestedSchema"] as Members) };
};

/** Arguments for a schema. */
function filled({ properties = {} }: Members): Members {
  return Object.fromEntries(
    Object.entries(properties as Record<string, Members>).map(([name, schema]) => [name, valueFor(schema)]),
  );
}

function valueFor({ type, default: byDefault, enum: values }: Members): unknown {
  if (byDefault !== undefined) return byDefault;
  if (Array.isArray(values)) return values[0];
  const byType: Members = { number: 1, integer: 1, boolean: true, object: {}, array: [] };
  return byType[String(type)] ?? "text";
}

const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const port = freePort();
const gateway = await serve({
  ...{ port, workers: 1 },
  config: JSON.stringify({ tools: { ...(authOf() && ways(port)), servers: { suite: serverOf() } } }),
});
const options: PeerOptions = {
  url: `${gateway.url}/mcp/suite`,
  capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
  respond,
};
try {
  const peer = await connected(() => legacyPeer(options));
  await doEverything(peer);
  await peer.close();
} finally {
  await gateway.end();
}

function serverOf(): object {
  return { url, era, allow: ["*"], ...(authOf() && { auth: authOf() }) };
}

/** What the operator of weir would write for a server that wants authorization. */
function authOf(): object | undefined {
  if (!scenario.startsWith("auth/")) return undefined;
  const { client_id: client, client_secret: secret, private_key_pem: key } = context;
  const own = { ...(client && { client }), ...(secret && { secret }), ...(key && { key }) };
  if (scenario.startsWith("auth/client-credentials")) return { clientCredentials: own };
  // The document that the suite gives to clients which name themselves by one.
  return { user: scenario === "auth/basic-cimd" ? { client: DOCUMENT } : own };
}

/** Where browsers come back to, and that authorization servers of the suite may be on this machine, at any port. */
function ways(own: number): object {
  const hosts = Array.from({ length: 65_536 - FIRST_PORT }, (_, index) => `localhost:${FIRST_PORT + index}`);
  return { url: `http://127.0.0.1:${own}`, hosts };
}

async function doEverything(peer: Peer): Promise<void> {
  const list = await attempt(peer, "tools/list", {});
  const tools = (list?.["tools"] ?? [{ name: "test-tool", inputSchema: {} }]) as Tool[];
  const rich = tools.find(({ inputSchema }) => "$schema" in inputSchema)?.inputSchema ?? {};
  const calls =
    context.toolCalls ??
    tools.map(({ name, inputSchema }) => ({
      name,
      arguments: { ...filled(inputSchema), ...(name.includes("echo") && { schema: rich }) },
    }));
  for (const call of calls) await attempt(peer, "tools/call", call);
  for (const [wanted, member, method, key] of [
    ["resources/list", "resources", "resources/read", "uri"],
    ["prompts/list", "prompts", "prompts/get", "name"],
  ] as const) {
    const found = (await attempt(peer, wanted, {}))?.[member] as Members[] | undefined;
    for (const one of found ?? []) await attempt(peer, method, { [key]: one[key] });
  }
}

/** Says what failed, and goes on: many servers of the suite offer little. */
async function attempt(peer: Peer, method: string, params: Members): Promise<Members | undefined> {
  try {
    return await connected(() => peer.request(method, params));
  } catch (error) {
    console.error(`${method} ${JSON.stringify(params).slice(0, 200)}: ${String(error)}`);
    return undefined;
  }
}

/** Connects an account where the server wants one, and tries again. */
async function connected<Value>(work: () => Promise<Value>, tries = 3): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    const link = linkIn(error);
    if (link === undefined || tries === 0) throw error;
    console.error(`the browser ended with ${await connectAccount(link).catch(String)}`);
    return connected(work, tries - 1);
  }
}

function linkIn(error: unknown): string | undefined {
  if (!(error instanceof PeerError)) return undefined;
  const { elicitations } = (error.data ?? {}) as { elicitations?: { url: string }[] };
  return elicitations?.[0]?.url;
}
