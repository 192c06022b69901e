/** Large inputs take little memory and little time. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

async function read(what: "lines" | "requests") {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "large-input.ts"), what], {
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return JSON.parse(text) as { bytes: number; ms: number; megabytes: number };
}

// Only Linux says how much memory a process had at most.
test.skipIf(!existsSync("/proc/self/status"))(
  "50,000 lines of 200 MB are checked within 64 MB of memory",
  async () => {
    const { bytes, ms, megabytes } = await read("lines");
    expect(bytes).toBeGreaterThan(195_000_000);
    expect(megabytes).toBeLessThan(64);
    // Ten times the promise.
    expect(ms).toBeLessThan(100_000);
  },
);

test.skipIf(!existsSync("/proc/self/status"))(
  "100,000 requests of 256 MB become lines within 80 MB of memory",
  async () => {
    const { bytes, megabytes } = await read("requests");
    expect(bytes).toBeGreaterThan(250_000_000);
    expect(megabytes).toBeLessThan(80);
  },
);
