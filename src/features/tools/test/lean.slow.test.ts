/** `/mcp` with a lean list, as a client of each era meets it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Serving, serve, until } from "../../../../test/helpers/serving.ts";

setDefaultTimeout(120_000);

const KEY = "key-of-alice-0123456789abcdef";
const ADMIN = "weir-planted-admin-0001";
const TOOLS = ["search_code", "open_issue", "secret_delete"].map((name) => ({
  ...{ name, description: `Does ${name}.` },
  inputSchema: { type: "object", properties: { where: { type: "string", "x-mcp-header": "Where" } } },
}));
const called: { name: string; where: unknown; header: string | null }[] = [];

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { id, method, params } = (await request.json()) as { id?: number; method: string; params: any };
    const common = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
    const result = (more: object) => Response.json({ jsonrpc: "2.0", id, result: { ...common, ...more } });
    if (method === "server/discover")
      return result({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
    if (method === "tools/list") return result({ tools: TOOLS });
    if (method !== "tools/call") return new Response(null, { status: 404 });
    const { name, arguments: args } = params;
    called.push({ name, where: args.where, header: request.headers.get("mcp-param-where") });
    return result({ content: [{ type: "text", text: `did ${name}` }] });
  },
});

let gateway: Serving;

beforeAll(async () => {
  gateway = await serve({
    workers: 1,
    config: JSON.stringify({
      log: { format: "json" },
      adminKeys: [{ name: "boss", key: ADMIN, role: "admin" }],
      keys: [{ name: "alice", key: KEY, tools: ["git__*", "!git__secret_*"] }],
      tools: {
        lean: "search",
        prices: { git__search_code: 0.25 },
        servers: { git: { url: `http://127.0.0.1:${server.port}/mcp`, allow: ["*"], era: "modern" } },
      },
    }),
  });
});

afterAll(async () => {
  await gateway?.end();
  await server.stop(true);
});

const COMMON = {
  ...{ authorization: `Bearer ${KEY}`, "content-type": "application/json" },
  accept: "application/json, text/event-stream",
};

async function message(response: Response): Promise<any> {
  const text = await response.text();
  const data = text.split("\n").findLast((line) => line.startsWith("data: {"));
  return text === "" ? undefined : JSON.parse(data?.slice("data: ".length) ?? text);
}

async function modern(method: string, params: any = {}, path = "/mcp"): Promise<any> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: {
      ...{ ...COMMON, "mcp-protocol-version": "2026-07-28", "mcp-method": method },
      ...(params.name && { "mcp-name": params.name }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } }),
  });
  return message(response);
}

const call = (name: string, args: object) => modern("tools/call", { name, arguments: args });

test("a modern client lists three tools, finds, describes and calls, and only what its key may use", async () => {
  const { result } = await modern("tools/list");
  expect(result.tools.map(({ name }: { name: string }) => name)).toEqual([
    "find_tools",
    "describe_tool",
    "call_tool",
  ]);
  expect(result.resultType).toBe("complete");
  const found = (await call("find_tools", { query: "search or delete" })).result;
  expect(found.structuredContent).toEqual({
    tools: [{ name: "git__search_code", description: "Does search_code." }],
    of: 2,
  });
  const described = (await call("describe_tool", { name: "git__open_issue" })).result;
  expect(described.structuredContent.inputSchema.properties).toHaveProperty("where");
  expect((await call("describe_tool", { name: "git__secret_delete" })).result.isError).toBe(true);
  const done = await call("call_tool", { name: "git__search_code", arguments: { where: "here" } });
  expect(done.result.content).toEqual([{ type: "text", text: "did search_code" }]);
  expect(called).toEqual([{ name: "search_code", where: "here", header: "here" }]);
  const refused = await call("call_tool", { name: "git__secret_delete", arguments: {} });
  expect(refused.error).toMatchObject({ code: -32602, message: "Unknown tool: git__secret_delete" });
  expect(called.length).toBe(1);
});

test("one server alone has its own list, and tools are called by their names as well", async () => {
  const { result } = await modern("tools/list", {}, "/mcp/git");
  expect(result.tools.map(({ name }: { name: string }) => name)).toEqual(["search_code", "open_issue"]);
  expect((await modern("tools/call", { name: "find_tools", arguments: {} }, "/mcp/git")).error.code).toBe(
    -32602,
  );
});

test("a legacy client has the same three", async () => {
  const send = (body: object, more: Record<string, string> = {}) =>
    fetch(`${gateway.url}/mcp`, {
      method: "POST",
      headers: { ...COMMON, ...more },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const begun = await send({ id: 0, method: "initialize", params });
  const session = {
    ...{ "mcp-session-id": begun.headers.get("mcp-session-id")!, "mcp-protocol-version": "2025-11-25" },
  };
  await begun.text();
  await (await send({ method: "notifications/initialized" }, session)).text();
  const list = await message(await send({ id: 1, method: "tools/list" }, session));
  expect(list.result.tools.length).toBe(3);
  expect(list.result.ttlMs).toBeUndefined();
  const args = { name: "git__open_issue", arguments: { where: "there" } };
  const done = await message(
    await send({ id: 2, method: "tools/call", params: { name: "call_tool", arguments: args } }, session),
  );
  expect(done.result.content[0].text).toBe("did open_issue");
});

test("the books have the tool that was called, at its price, and no search", async () => {
  const admin = /(http\S+)\/console/.exec(gateway.log.join("\n"))![1]!;
  const models = async () => {
    const response = await fetch(`${admin}/admin/v1/calls?provider=mcp`, {
      headers: { authorization: `Bearer ${ADMIN}` },
    });
    const { calls } = (await response.json()) as {
      calls: { model: string; attempts: { charge: { cost: number } }[] }[];
    };
    return calls.map(({ model, attempts }) => `${model} ${attempts[0]!.charge.cost}`).sort();
  };
  await until(async () => (await models()).length >= 2);
  expect(await models()).toEqual(["git__open_issue 0", "git__search_code 250000000"]);
});
