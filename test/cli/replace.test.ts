/** Which processes replace themselves at their start. */
import { readFileSync } from "node:fs";
import { expect, test } from "bun:test";
import { cleanEnvironment, isFetchLimited, mustReplace } from "../../src/process/reexec.ts";
import { serve } from "../helpers/serving.ts";

const PLAIN = { PATH: "/usr/bin", WEIR_PORT: "9347", NO_PROXY: "127.0.0.1" };

test("a process with a plain environment is not replaced", () => {
  expect(mustReplace(PLAIN)).toBe(false);
  expect(isFetchLimited(PLAIN)).toBe(true);
});

test("a replaced process is not replaced again", () => {
  const variables = {
    BUN_INSPECT: "0.0.0.0:0",
    NODE_OPTIONS: "--require ./evil.ts",
    https_proxy: "http://proxy",
  };
  const clean = cleanEnvironment({ ...PLAIN, ...variables });
  expect(mustReplace(clean)).toBe(false);
  expect(isFetchLimited(clean)).toBe(false);
});

test.each([
  ["BUN_OPTIONS", "--preload ./evil.ts"],
  ["BUN_CONFIG_MAX_HTTP_REQUESTS", "1"],
  ["BUN_CONFIG_VERBOSE_FETCH", "1"],
  ["NODE_OPTIONS", "--require ./evil.ts"],
  ["NODE_TLS_REJECT_UNAUTHORIZED", "0"],
  ["HTTP_PROXY", "http://127.0.0.1:1"],
  ["https_proxy", "http://127.0.0.1:1"],
  ["ALL_PROXY", "http://127.0.0.1:1"],
])("%s causes a replacement", (name, value) => {
  expect(mustReplace({ ...PLAIN, [name]: value })).toBe(true);
});

test("a folder of plugins, which may use fetch, causes a replacement", async () => {
  if (process.platform !== "linux") return expect(process.platform).not.toBe("linux");
  const weir = await serve({ config: "", workers: 1, plugins: { "note.txt": "" } });
  try {
    const environ = readFileSync(`/proc/${weir.pid}/environ`, "latin1").split("\0");
    expect(environ).toContain("BUN_CONFIG_MAX_HTTP_REQUESTS=65336");
  } finally {
    await weir.end();
  }
}, 600_000);
