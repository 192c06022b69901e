/** `weir health` against a gateway that runs, one that drains, and other programs. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FIRST } from "../helpers/certificates.ts";
import { runCommand } from "../helpers/command.ts";
import { serve, type Serving } from "../helpers/serving.ts";
import { VERSION } from "../../src/process/version.ts";

setDefaultTimeout(120_000);

let running: Serving | undefined;
afterEach(async () => {
  await running?.end();
  running = undefined;
});

const started = async (config: string) => (running = await serve({ config, workers: 1 }));

test("a gateway that accepts calls is healthy, by its port, its URL, WEIR_PORT and as the only one, without a key", async () => {
  const { url, folder } = await started("keys: [a-key-that-is-long-enough]\n");
  const { port } = new URL(url);
  const well = { code: 0, out: `ok ${VERSION}\n`, err: "" };
  expect(await runCommand(["health", "--port", port], { cwd: folder })).toEqual(well);
  expect(await runCommand(["health", "--url", `${url}/`], { cwd: folder })).toEqual(well);
  expect(await runCommand(["health"], { cwd: folder, env: { WEIR_PORT: port } })).toEqual(well);
  expect(await runCommand(["health"], { cwd: folder })).toEqual(well);
});

test("a gateway that listens on all addresses with TLS is asked on loopback", async () => {
  const files = mkdtempSync(join(tmpdir(), "weir-health-"));
  writeFileSync(join(files, "cert.pem"), FIRST.cert);
  writeFileSync(join(files, "key.pem"), FIRST.key);
  const tls = `tls: { cert: ${join(files, "cert.pem")}, key: ${join(files, "key.pem")} }`;
  const { url, folder } = await started(`host: 0.0.0.0\nkeys: [a-key-that-is-long-enough]\n${tls}\n`);
  const asked = await runCommand(["health", "--port", new URL(url).port], { cwd: folder });
  rmSync(files, { recursive: true });
  expect(asked).toEqual({ code: 0, out: `ok ${VERSION}\n`, err: "" });
});

/** Asks a server that is not weir, or is not well. */
async function askedOf(answer: () => Response) {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
  const ran = await runCommand(["health", "--url", server.url.origin], { cwd: tmpdir() });
  await server.stop(true);
  return ran;
}

test("a gateway that drains is not healthy, and one with a degraded part is", async () => {
  const draining = { status: "draining", version: "1.2.3" };
  expect(await askedOf(() => Response.json(draining, { status: 503 }))).toEqual({
    code: 1,
    out: "draining 1.2.3\n",
    err: "",
  });
  const degraded = { status: "ok", version: "1.2.3", degraded: ["ledger"] };
  expect(await askedOf(() => Response.json(degraded))).toEqual({
    code: 0,
    out: "ok 1.2.3 ledger\n",
    err: "",
  });
});

test("another program on the port is not healthy, and neither is nothing", async () => {
  const other = await askedOf(() => new Response("hello"));
  expect(other.code).toBe(1);
  expect(other.err).toContain("is not weir");
  const none = await runCommand(["health", "--url", "http://127.0.0.1:1"], { cwd: tmpdir() });
  expect(none.code).toBe(1);
  expect(none.err).toContain("no gateway answers at http://127.0.0.1:1");
});
