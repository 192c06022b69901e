/** Servers that forget what revision 2026-07-28 wants in results: repaired and counted once, or refused. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBooks } from "../../../../test/books/running.ts";
import { runCommand } from "../../../../test/helpers/command.ts";
import { parsePrometheus, valueOf } from "../../../../test/helpers/prometheus.ts";
import { until } from "../../../../test/helpers/serving.ts";
import type { JsonObject } from "../../../core/json.ts";
import { ModernClient, textOf } from "./support/clients.ts";
import { definition, text } from "./support/servers.ts";

setDefaultTimeout(120_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const RESULTS: Record<string, JsonObject> = {
  whole: text("done"),
  empty: {},
  asks: { inputRequests: { who: { method: "elicitation/create", params: {} } } },
};

/** A server without `resultType` in its results, but for `server/discover`. */
function laxServer() {
  const seen: string[] = [];
  const resultOf = (method: string, params: JsonObject): JsonObject | undefined => {
    if (method === "tools/call") return RESULTS[String(params["name"])];
    if (method === "tools/list") return { tools: Object.keys(RESULTS).map((name) => definition(name)) };
    if (method !== "server/discover") return undefined;
    const hints = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
    return { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ...hints };
  };
  const server = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 1 },
    async fetch(request) {
      const { id, method, params } = (await request.json()) as {
        id: number;
        method: string;
        params: JsonObject;
      };
      seen.push(method);
      const result = resultOf(method, params);
      const error = { code: -32601, message: "Method not found" };
      const answer = { jsonrpc: "2.0", id, ...(result ? { result } : { error }) };
      return Response.json(answer, { status: result ? 200 : 404 });
    },
  });
  cleanups.push(() => server.stop(true));
  return { url: `http://127.0.0.1:${server.port}/mcp`, seen };
}

const toolsOf = (url: string, more: object = {}) => ({
  tools: { pin: "off", servers: { lax: { url, allow: ["*"] } }, ...more },
});

async function gatewayFor(config: Record<string, unknown>) {
  const gateway = await startBooks({ workers: 2, config });
  cleanups.push(() => gateway.end());
  return gateway;
}

test("what is missing in whole results is added, and counted once for all workers", async () => {
  const lax = laxServer();
  const { url, admin } = await gatewayFor(toolsOf(lax.url));
  const one = new ModernClient({ url: `${url}/mcp/lax` });
  for (let times = 0; times < 5; times++) {
    const got = await one.call("whole");
    expect([textOf(got), (got.message["result"] as JsonObject)["resultType"]]).toEqual(["done", "complete"]);
  }
  for (const name of ["empty", "asks"])
    expect((await one.call(name)).message["error"]).toMatchObject({ code: 1005 });
  const count = async (kind: string) =>
    valueOf(parsePrometheus(await (await fetch(`${admin.url}/metrics`)).text()), "weir_tool_repairs_total", {
      server: "lax",
      kind,
    });
  const lists = lax.seen.filter((method) => method === "tools/list").length;
  await until(async () => (await count("result_type")) >= lists + 5);
  expect([await count("result_type"), await count("cache_hints")]).toEqual([lists + 5, lists]);
});

test("a strict gateway refuses them", async () => {
  const { url } = await gatewayFor(toolsOf(laxServer().url, { strict: true }));
  const got = await new ModernClient({ url: `${url}/mcp/lax` }).call("whole");
  expect(got.message["error"]).toMatchObject({ code: 1005, message: expect.stringContaining("resultType") });
});

test("`weir tools check` says what is missing, and fails where the gateway is strict", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "weir-repairs-"));
  cleanups.push(() => rmSync(cwd, { recursive: true, force: true }));
  const { url } = laxServer();
  const check = (more: object, ...flags: string[]) => {
    writeFileSync(join(cwd, "weir.yaml"), JSON.stringify(toolsOf(url, more)));
    return runCommand(["tools", "check", ...flags], { cwd, env: {} });
  };
  const shown = await check({});
  expect([shown.code, shown.out]).toEqual([0, expect.stringContaining("lax: its results lack resultType")]);
  const { servers } = JSON.parse((await check({}, "--json")).out) as { servers: JsonObject[] };
  expect(servers[0]).toMatchObject({ ok: true, repairs: ["result_type", "cache_hints"] });
  expect((await check({ strict: true })).code).toBe(1);
});
