/** A check of a plugin that never ends. */
import { expect, test } from "bun:test";
import { findingsOf } from "../../src/run/plugin-checks.ts";

test("a check has its time, and the others are not lost with it", async () => {
  const hanging = { name: "hanging", check: () => new Promise<never>(() => {}) };
  const fine = { name: "fine", check: () => [{ severity: "warning", message: "one\nline" } as const] };
  const plugins = [hanging, fine].map((plugin) => ({ plugin, source: "test" }));
  expect(await findingsOf(plugins, { isOffline: true }, 20)).toEqual({
    faults: ["plugin hanging: its check failed: Error: it took longer than 0.02 s"],
    warnings: ["plugin fine: one\\u000aline"],
  });
});
