/** `weir reconcile` against an admin API that records what it is asked. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../../../test/helpers/command.ts";

const asked: { path: string; body: unknown }[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    asked.push({ path: new URL(request.url).pathname, body: await request.json() });
    return Response.json({
      ...{ provider: "openai", month: "2026-11", invoiced: 412_330_000_000, booked: 400_000_000_000 },
      difference: 12_330_000_000,
      causes: [{ name: "unpriced", amount: 12_330_000_000, detail: "3 attempts had no price" }],
    });
  },
});
const folder = mkdtempSync(join(tmpdir(), "weir-reconcile-"));
afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

const reconcile = (...words: string[]) =>
  runCommand(["reconcile", ...words, "--url", `http://127.0.0.1:${server.port}`], {
    cwd: folder,
    env: { WEIR_ADMIN_KEY: "weir-admin" },
  });

test("an invoice is sent in nano-dollars, and each cause has a line", async () => {
  const { code, out } = await reconcile("openai", "2026-11", "412.33");
  expect(code).toBe(0);
  expect(asked).toEqual([
    { path: "/admin/v1/invoices", body: { provider: "openai", month: "2026-11", amount: 412_330_000_000 } },
  ]);
  expect(out).toMatch(/invoice +\$412\.33.* +openai, 2026-11\n/);
  expect(out).toMatch(/ {2}unpriced +\$12\.33.* +3 attempts had no price/);
}, 120_000);

test("a value that is no month exits with 2 and sends nothing", async () => {
  asked.length = 0;
  const { code, err } = await reconcile("openai", "November", "3");
  expect([code, err]).toEqual([2, expect.stringContaining("a month is written 2026-11")]);
  expect(asked).toEqual([]);
}, 120_000);
