/** A restart listens in spite of faults of the keeper, and logs them in a fixed order. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { startWeir } from "../../src/run/weir.ts";

const root = mkdtempSync(join(tmpdir(), "weir-start-order-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("logs at a restart the fault of the answers, then that of the admin API", async () => {
  const folder = join(root, "state");
  mkdirSync(join(folder, "responses.db"), { recursive: true });
  const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  writeFileSync(join(root, "weir.yaml"), JSON.stringify({ admin: { port: taken.port } }));
  const { config } = loadConfig({ flags: { "--port": "0", "--state": folder }, env: {}, cwd: root });
  const texts: string[] = [];
  const write = (text: string) => void texts.push(text);
  const adminCredential = "weir-test-credential-0001";
  const weir = await startWeir({ config, env: {}, isRestart: true, adminCredential, write });
  expect(await fetch(`${weir.url}/health`).then(({ status }) => status)).toBe(200);
  await weir.stop();
  await taken.stop(true);
  const log = texts.join("");
  const answers = log.indexOf("answers are not stored");
  expect(answers).toBeGreaterThan(-1);
  expect(log.indexOf("weir tries again")).toBeGreaterThan(answers);
});
