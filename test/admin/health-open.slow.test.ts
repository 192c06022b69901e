/** Who waits for `/health` and then opens the console finds it: `/health` is not `ok` before the admin listener takes connections. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { IS_STRESS } from "../helpers/effort.ts";
import { freePort, serve } from "../helpers/serving.ts";

setDefaultTimeout(240_000);

const STARTS = IS_STRESS ? 10 : 4;

/** Asks until the gateway is healthy. @returns the status of the console asked at once, and how often the gateway was only starting */
async function askBoth(port: number, admin: number): Promise<{ status: number; waited: number }> {
  let waited = 0;
  for (;;) {
    const health = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
    if (health?.ok) {
      await health.body?.cancel();
      const console = await fetch(`http://127.0.0.1:${admin}/console/`).catch(() => undefined);
      await console?.body?.cancel();
      return { status: console?.status ?? 0, waited };
    }
    if (health) waited++;
    await Bun.sleep(1);
  }
}

for (const workers of [1, 2])
  test(`/health is ok only when the console is open, in ${STARTS} starts with workers: ${workers}`, async () => {
    let waited = 0;
    for (let start = 0; start < STARTS; start++) {
      const state = mkdtempSync(join(tmpdir(), "weir-health-"));
      const [port, admin] = [freePort(), freePort()];
      const asked = askBoth(port, admin);
      const gateway = await serve({
        workers,
        port,
        config: JSON.stringify({ state, admin: { port: admin } }),
      });
      try {
        const found = await asked;
        expect([start, found.status]).toEqual([start, 200]);
        waited += found.waited;
      } finally {
        await gateway.end();
        rmSync(state, { recursive: true, force: true });
      }
    }
    // The first of two workers listens while the other one starts, and says that the gateway starts.
    if (workers > 1) expect(waited).toBeGreaterThan(0);
  });
