/**
 * What the official suite runs as a client: `bun client.ts URL`. It starts weir with the server at the URL, and does everything
 * that the server offers, as a client of weir with a session: so it is weir that talks to the suite, and weir that answers rounds of input. The suite says in `MCP_CONFORMANCE_CONTEXT`
 * what a scenario wants beside that.
 */
import { startGateway, TARGET } from "../../helpers/gateway.ts";
import { legacyPeer, type Members, type Peer, type PeerOptions, type Respond } from "./peer.ts";

interface Tool {
  readonly name: string;
  readonly inputSchema: Members;
}

interface Context {
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

const gateway = await startGateway({
  config: { tools: { servers: { suite: { url, allow: ["*"], era } } } },
  target: TARGET === "source" ? "process" : TARGET,
});
const options: PeerOptions = {
  url: `${gateway.url}/mcp/suite`,
  capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
  respond,
};
try {
  const peer = await legacyPeer(options);
  await doEverything(peer);
  await peer.close();
} finally {
  await gateway.stop();
}

async function doEverything(peer: Peer): Promise<void> {
  const { tools } = (await peer.request("tools/list")) as unknown as { tools: Tool[] };
  const rich = tools.find(({ inputSchema }) => "$schema" in inputSchema)?.inputSchema ?? {};
  const calls =
    context.toolCalls ??
    tools.map(({ name, inputSchema }) => ({
      name,
      arguments: { ...filled(inputSchema), ...(/echo/.test(name) && { schema: rich }) },
    }));
  for (const call of calls) await attempt(peer, "tools/call", call);
  for (const [list, member, method, key] of [
    ["resources/list", "resources", "resources/read", "uri"],
    ["prompts/list", "prompts", "prompts/get", "name"],
  ] as const) {
    const found = (await attempt(peer, list, {}))?.[member] as Members[] | undefined;
    for (const one of found ?? []) await attempt(peer, method, { [key]: one[key] });
  }
}

/** Says what failed, and goes on: many servers of the suite offer little. */
async function attempt(peer: Peer, method: string, params: Members): Promise<Members | undefined> {
  try {
    return await peer.request(method, params);
  } catch (error) {
    console.error(`${method} ${JSON.stringify(params).slice(0, 200)}: ${String(error)}`);
    return undefined;
  }
}
