/** Published servers as programs, and the reference server of both eras. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { JsonObject } from "../../../../core/json.ts";
import { cacheFolder, installPackages } from "../../../../../test/conformance/mcp/install.ts";
import { install } from "../../../../../test/clients/programs.ts";
import type { Connection } from "../../servers/connection.ts";
import { Children } from "../../servers/stdio/children.ts";
import type { Wanted } from "../../servers/stdio/kept.ts";
import type { Era } from "../../wire/revisions.ts";
import { CLIENT, failureOf, Place, said, textOf, tool, until, wish } from "./place.ts";

setDefaultTimeout(240_000);

const ROOT = resolve(import.meta.dir, "../../../../..");
const FOLDER = cacheFolder("mcp-programs");
const VERSION = "2026.8.31";
const SERVERS = ["everything", "memory", "filesystem"];

/** Why some servers are not here; undefined: they are. */
async function missing(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (cause) {
    console.log(`published servers are not tried: ${(cause as Error).message.slice(0, 300)}`);
    return String(cause);
  }
}

const npm = join(FOLDER, "npm");
const noNpm = await missing(() =>
  installPackages(
    npm,
    SERVERS.map((name) => `@modelcontextprotocol/server-${name}@${VERSION}`),
  ),
);
const python = join(FOLDER, "mcp-2.3.0");
const noPython = await missing(() => install("python", python, ["mcp==2.3.0"]));

const published = (name: string, ...args: string[]) => [
  process.execPath,
  join(npm, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`),
  ...args,
];
const reference = (...args: string[]) => [
  process.execPath,
  join(ROOT, "test/conformance/mcp/reference.ts"),
  "--stdio",
  ...args,
];

const place = new Place();
const children = new Children(place);
afterAll(async () => {
  await children.close();
  place[Symbol.dispose]();
});

let servers = 0;
/** A server with a name of its own. */
function serverOf(command: readonly string[], env: Record<string, string> = {}) {
  const server = `server-${servers++}`;
  const pool = new Map<string, Promise<Connection>>();
  const start = (owner: string, more: Partial<Wanted>): Promise<Connection> =>
    children.connect(
      {
        ...{ server, principal: owner, client: CLIENT, preferred: "modern" },
        config: { command, env, era: "auto" },
        ...more,
      },
      {
        notified() {},
        ended: () => void pool.delete(owner),
      },
    );
  /** The connection of an owner, which holds as long as its program. */
  return (owner = "alice", more: Partial<Wanted> = {}): Promise<Connection> => {
    const connecting = pool.get(owner) ?? start(owner, more);
    pool.set(owner, connecting);
    connecting.catch(() => pool.delete(owner));
    return connecting;
  };
}

const preferring = (preferred: Era, capabilities: JsonObject = {}) => ({
  preferred,
  client: { ...CLIENT, capabilities },
});

/** The tools that a legacy server lists, without weir. */
async function listed(command: readonly string[]): Promise<unknown> {
  const child = Bun.spawn([...command], { stdio: ["pipe", "pipe", "ignore"] });
  const { promise, resolve: found } = Promise.withResolvers<unknown>();
  void (async () => {
    let held = "";
    for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (held += piece).split("\n");
      held = lines.pop() ?? "";
      for (const line of lines) {
        const { id, result } = JSON.parse(line) as { id?: number; result?: { tools: unknown } };
        if (id === 1) found(result?.tools);
      }
    }
  })();
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: CLIENT.info };
  send({ id: 0, method: "initialize", params });
  send({ method: "notifications/initialized" });
  send({ id: 1, method: "tools/list" });
  child.stdin.flush();
  const tools = await promise;
  child.kill();
  await child.exited;
  return tools;
}

test.skipIf(noNpm !== undefined)(
  "server-everything: its list, and 1,000 calls at 50 in parallel",
  async () => {
    const connection = await serverOf(published("everything"))();
    expect([connection.era, connection.facts.version]).toEqual(["legacy", "2025-11-25"]);
    const list = await connection.request(wish("tools/list").outgoing);
    expect("result" in list && list.result["tools"]).toEqual(
      (await listed(published("everything"))) as never,
    );
    let at = 0;
    let wrong = 0;
    const work = async () => {
      for (let mine = at++; mine < 1000; mine = at++)
        if ((await said(connection, "echo", { message: `mark ${mine}` })) !== `Echo: mark ${mine}`) wrong++;
    };
    await Promise.all(Array.from({ length: 50 }, work));
    expect(wrong).toBe(0);
    const long = tool(
      "trigger-long-running-operation",
      { duration: 1, steps: 4 },
      {},
      { progressToken: "mine" },
    );
    await connection.request(long.outgoing);
    expect(long.heard.map(({ params }) => [params["progressToken"], params["progress"]])).toEqual(
      [1, 2, 3, 4].map((step) => ["mine", step]),
    );
    const env = JSON.parse(await said(connection, "get-env")) as Record<string, string>;
    const inherited = ["PATH", "LANG", "TZ"].filter((name) => process.env[name] !== undefined);
    expect(Object.keys(env).sort()).toEqual(inherited.sort());
    await connection.close();
  },
);

test.skipIf(noNpm !== undefined)("server-everything asks the client", async () => {
  const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
  const connection = await serverOf(published("everything"))("alice", preferring("legacy", capabilities));
  const client = { capabilities };
  const answer = { result: { action: "decline" } };
  const call = tool("trigger-elicitation-request", {}, { client, answer });
  expect(textOf(await connection.request(call.outgoing))).toContain("declined");
  expect(call.asked.filter(({ method }) => method === "elicitation/create")).toHaveLength(1);
  await connection.close();
});

test.skipIf(noNpm !== undefined)(
  "server-memory: two owners never see each other, also after a crash",
  async () => {
    const connect = serverOf(published("memory"), { MEMORY_FILE_PATH: "{folder}/memory.jsonl" });
    const entity = (name: string) => ({ entities: [{ name, entityType: "thing", observations: ["seen"] }] });
    const seen = async (owner: string) => {
      const graph = JSON.parse(await said(await connect(owner), "read_graph")) as {
        entities: { name: string }[];
      };
      return graph.entities.map(({ name }) => name);
    };
    const owners = ["alice", "bob"];
    for (let round = 0; round < 100; round++) {
      // A crash in the midst; what was stored before lasts.
      if (round === 50) process.kill(place.started.at(-1)!, "SIGKILL");
      for (const owner of owners)
        for (;;)
          try {
            await said(await connect(owner), "create_entities", entity(`${owner} ${round}`));
            break;
          } catch (cause) {
            expect(String(cause)).toMatch(/ended/);
            await Bun.sleep(50);
          }
    }
    for (const owner of owners) {
      const names = await seen(owner);
      expect(names.filter((name) => !name.startsWith(owner))).toEqual([]);
      expect(names.length).toBeGreaterThanOrEqual(99);
    }
  },
);

test.skipIf(noNpm !== undefined)("server-filesystem reads below its folder", async () => {
  const folder = join(place.root, "docs");
  mkdirSync(folder);
  writeFileSync(join(folder, "a.txt"), "hello\n");
  const connection = await serverOf(published("filesystem", folder))();
  expect(await said(connection, "read_text_file", { path: join(folder, "a.txt") })).toBe("hello\n");
  expect(await said(connection, "read_text_file", { path: "/etc/passwd" })).toContain("Access denied");
  await connection.close();
});

const PYTHON_SERVER = `
from mcp.server.mcpserver import Context, MCPServer
server = MCPServer("python", log_level="ERROR")

@server.tool()
def echo(text: str) -> str:
    return f"echo: {text}"

@server.tool()
async def count(to: int, ctx: Context) -> str:
    for step in range(1, to + 1):
        await ctx.report_progress(step, to)
    return "counted"

server.run("stdio")
`;

test.skipIf(noPython !== undefined)("PyPI mcp 2.3.0 speaks the era of the client", async () => {
  const connect = serverOf([join(python, "bin/python"), "-B", "-c", PYTHON_SERVER]);
  for (const preferred of ["modern", "legacy"] as const) {
    const connection = await connect(preferred, preferring(preferred));
    expect(connection.era).toBe(preferred);
    expect(await said(connection, "echo", { text: "a" })).toBe("echo: a");
    const count = tool("count", { to: 5 }, {}, { progressToken: 0 });
    expect(textOf(await connection.request(count.outgoing))).toBe("counted");
    expect(count.heard.map(({ params }) => [params["progressToken"], params["progress"]])).toEqual(
      [1, 2, 3, 4, 5].map((step) => [0, step]),
    );
    await connection.close();
  }
});

test("the reference server in the modern era: rounds, progress, cancelling, listening", async () => {
  const connect = serverOf(reference("--era", "modern"));
  // Its client is legacy, and yet there is one revision in common.
  const capabilities = { elicitation: { form: {} } };
  const connection = await connect("alice", preferring("legacy", capabilities));
  expect(connection.era).toBe("modern");
  expect(connection.facts.info["name"]).toBe("weir-reference");
  const client = { capabilities };
  const first = tool("test_input_required_result_elicitation", {}, { client });
  const asked = await connection.request(first.outgoing);
  expect("result" in asked && asked.result["resultType"]).toBe("input_required");
  const inputResponses = { user_name: { action: "accept", content: { name: "Anna" } } };
  const params = { name: "test_input_required_result_elicitation", arguments: {}, inputResponses };
  expect(textOf(await connection.request(wish("tools/call", params, { client }).outgoing))).toBe(
    "Hello, Anna!",
  );
  const progress = tool("test_tool_with_progress", {}, {}, { progressToken: "mine" });
  await connection.request(progress.outgoing);
  expect(progress.heard.map(({ params: told }) => told["progressToken"])).toEqual(["mine", "mine", "mine"]);
  // Lists need no client.
  const list = await connection.request(wish("tools/list", {}, { client: { info: {} } }).outgoing);
  expect("result" in list).toBe(true);
  let opened = 0;
  const stop = new AbortController();
  const listens = connection.listen!({ toolsListChanged: true }, stop.signal, () => void opened++);
  await until(() => opened === 1);
  stop.abort();
  await listens;
  const refused = connection.listen!({ toolsListChanged: "no" }, new AbortController().signal, () => {});
  expect(await failureOf(refused)).toContain("-32602");
  await connection.close();
});

test("the reference server of both eras speaks that of the client", async () => {
  const connect = serverOf(reference());
  for (const preferred of ["modern", "legacy"] as const) {
    const connection = await connect(preferred, preferring(preferred, { elicitation: { form: {} } }));
    expect(connection.era).toBe(preferred);
    expect(await said(connection, "test_simple_text")).toContain("simple text");
    await connection.close();
    // A modern client need not say its name.
    const client = { capabilities: {}, info: {} };
    const nameless = await connect(`nameless ${preferred}`, { preferred, client });
    const call = tool("test_simple_text", {}, { client });
    expect(textOf(await nameless.request(call.outgoing))).toContain("simple text");
    await nameless.close();
  }
});
