/** The store option: its two forms, its secret, and what is refused. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";

const URL = "postgres://weir:hidden@db.example/weir";

function load(text: string, env: Record<string, string> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), "weir-config-"));
  try {
    writeFileSync(join(cwd, "weir.yaml"), text);
    return loadConfig({ env, cwd }).config;
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

test("a store is a URL or a group with one, and its text is never printed", () => {
  for (const config of [
    load(`store: ${URL}\n`),
    load(`store: {url: "${URL}", onLoss: open, syncMs: 100}\n`),
    load("", { WEIR_STORE: URL }),
  ]) {
    expect(JSON.stringify(config)).not.toContain("hidden");
    expect(config.store).toBeDefined();
  }
  expect(load("{}\n").store).toBeUndefined();
});

test("a store that is no PostgreSQL database is refused without its text", () => {
  const refusal = (text: string) => {
    try {
      load(text);
      return "";
    } catch (fault) {
      return (fault as Error).message;
    }
  };
  expect(refusal("store: mysql://weir:hidden@db/weir\n")).toContain(
    "must be a URL that begins with postgres://",
  );
  expect(refusal("store: {url: redis-hidden}\n")).toContain("must be a URL that begins with postgres://");
  expect(refusal("store: {url: redis-hidden}\n")).not.toContain("hidden");
  expect(refusal("store: {onLoss: never}\n")).toContain("onLoss");
});

test("several gateways without a store that they can share are refused", () => {
  expect(() => load("cluster: true\n")).toThrow("there is no store that several gateways can share");
  expect(load(`cluster: true\nstore: ${URL}\n`).cluster).toBe(true);
});
