/** The operations of the admin API on servers, tools and pins, with the part in the keeper and a worker. */
import { expect, test } from "bun:test";
import type { AdminRequest } from "../../../admin/operation.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { KeeperHost } from "../../../keeper/seams.ts";
import { start } from "../keeper.ts";
import type { ToolsDown, ToolsUp } from "../messages.ts";
import { OperatorLink } from "../operator/link.ts";
import { operations } from "../operator/operations.ts";
import { type ToolsConfig, toolsSection } from "../section.ts";
import { openStore } from "./support/store.ts";

const SECTION = {
  ...toolsSection.of({ tools: { servers: {}, bodyBytes: 1 } }),
  prices: { "*": 0.001, "files__w*": 0.25 },
  servers: {
    files: {
      url: "https://user.example/mcp?key=secret",
      ...({ allow: ["*"], only: [], isolation: "key", era: "auto", timeoutMs: 1, idleMs: 1 } as const),
    },
    memory: {
      command: ["npx", "-y", "server-memory"],
      ...({
        allow: ["/eng"],
        only: ["get_*"],
        isolation: "shared",
        era: "auto",
        timeoutMs: 1,
        idleMs: 1,
      } as const),
    },
  },
} as unknown as ToolsConfig;

const tool = (name: string, description = `Does ${name}.`): JsonObject => ({
  name,
  description,
  inputSchema: { type: "object" },
});

function opened() {
  const store = openStore();
  const offers = {};
  const host = { ...store.host, offers } as unknown as KeeperHost;
  const part = start(host);
  let link: OperatorLink;
  const connection = part.connect!((message: ToolsDown) => void ("ask" in message && link.message(message)));
  const keeper = {
    isUp: true,
    send: (message: ToolsUp) => connection.receive(JSON.parse(JSON.stringify(message))),
  };
  link = new OperatorLink(keeper, async (ask) =>
    ask.logs === "memory"
      ? { logs: [{ program: "npx", text: "hello" }] }
      : Promise.reject(new Error("it is no program")),
  );
  const ask = async (id: string, server = "", more: object = {}) => {
    const request = {
      books: { offers, read: store.host.read },
      caller: { actor: "ops" },
      ...{ params: { server }, query: { limit: 100 }, body: undefined },
      ...more,
    } as unknown as AdminRequest;
    const found = operations.find((one) => one.id === id)!;
    try {
      return ((await found.handle(request)) as { json: any }).json;
    } catch (thrown) {
      return thrown as Error;
    }
  };
  const see = async (definitions: JsonObject[], server = "files") => {
    connection.receive({ seen: { server, definitions, mode: "approve" } });
    await Bun.sleep(30);
  };
  return { ...store, ask, see, link, connection, part };
}

test("servers are listed with what workers and the store know, and without a credential", async () => {
  const { ask, see, link, connection, part } = opened();
  expect(await ask("listToolServers")).toEqual({ servers: [] });
  link.serves(SECTION);
  await see([tool("read"), tool("write")]);
  const info = { name: "Files\u202e", version: "1.0" };
  link.report({ server: "files", isUp: true, era: "modern", version: "2026-07-28", info, at: 5 });
  link.report({ server: "memory", isUp: false, reason: "it ended\u0007", at: 6 });
  const { servers } = await ask("listToolServers");
  expect(JSON.stringify(servers)).not.toContain("secret");
  expect(servers).toMatchObject([
    {
      ...{
        name: "files",
        transport: "http",
        at: "https://user.example/mcp",
        allow: ["*"],
        state: "up",
        era: "modern",
      },
      ...{ software: "Files\u202e 1.0", tools: 2, waiting: 0, seenAt: 5 },
    },
    { name: "memory", transport: "program", at: "npx", state: "down", reason: "it ended\\u{7}", tools: 0 },
  ]);
  expect(servers[0].tokens).toBeGreaterThan(10);
  connection.ended();
  expect((await ask("listToolServers")).servers).toMatchObject([{ name: "files", state: "up" }]);
  await part.close!();
});

test("the tools of a server have tokens, prices and the state of their pins, in pages", async () => {
  const { ask, see, link, part } = opened();
  link.serves(SECTION);
  await see([tool("read"), tool("write"), tool("list")]);
  const { tools, next } = await ask("listServerTools", "files", { query: { limit: 2 } });
  expect(tools).toMatchObject([
    { name: "files__read", tool: "read", state: "approved", price: 1_000_000 },
    { name: "files__write", price: 250_000_000, definition: tool("write") },
  ]);
  const rest = await ask("listServerTools", "files", { query: { limit: 2, after: next } });
  expect(rest).toMatchObject({ tools: [{ tool: "list" }] });
  expect(rest.next).toBeUndefined();
  expect((await ask("listServerTools", "other")).code).toBe("not_found");
  await part.close!();
});

test("an operator sees a poisoned description with what is invisible, approves it, and what came later is refused", async () => {
  const { ask, see, link, part, audit, sql } = opened();
  link.serves(SECTION);
  await see([tool("read")]);
  const { PinsBook } = await import("../pins/book.ts");
  const { host } = { host: { read: (work: any) => work(sql), write: (work: any) => sql.transaction(work) } };
  const book = new PinsBook({ ...host, report() {} } as unknown as KeeperHost);
  await book.see({ server: "files", definitions: [tool("read", "Does\u{e0041} read.")], mode: "approve" });
  const pins = await ask("getServerPins", "files");
  expect(pins.changes).toMatchObject([
    {
      ...{ tool: "read", kind: "changed" },
      lines: [
        { sign: " ", text: "description" },
        { sign: "-", text: "  Does read." },
        { sign: "+", text: "  Does\\u{E0041} read." },
      ],
    },
  ]);
  const approve = (digest: string, tools?: string[]) =>
    ask("approveServerTools", "files", { body: { digest, ...(tools && { tools }) } });
  expect((await approve("0".repeat(32))).code).toBe("pins_changed");
  expect((await approve(pins.digest, ["other"])).code).toBe("pins_changed");
  expect(await approve(pins.digest)).toEqual({ server: "files", changes: ["changed read"] });
  expect((await ask("getServerPins", "files")).changes).toEqual([]);
  expect(audit.map((one) => one.split(" {")[0])).toEqual([
    "pin tools tools/files",
    "approve tools tools/files",
  ]);
  await part.close!();
});

test("what programs wrote comes from a worker, with the reason where it does not", async () => {
  const { ask, link, connection, part } = opened();
  link.serves(SECTION);
  expect(await ask("getServerLogs", "memory")).toEqual({ programs: [{ program: "npx", text: "hello" }] });
  expect((await ask("getServerLogs", "files")).message).toContain("it is no program");
  connection.ended();
  expect((await ask("getServerLogs", "memory")).code).toBe("not_found");
  await part.close!();
});
