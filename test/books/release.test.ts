/** A gateway whose store was lost: closed until `weir store release`, and to calls without a key until `weir keys open`. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { until } from "../helpers/serving.ts";
import { startBooks } from "./running.ts";

setDefaultTimeout(120_000);

async function ask(url: string, key?: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content: "hi" }] }),
  });
  return { status: answer.status, text: await answer.text() };
}

/** The keeper sends a change to the workers after it has answered the command. */
const statusIs = (wanted: number, url: string, key?: string) =>
  until(async () => (await ask(url, key)).status === wanted);

test("a store that is gone closes the gateway, and two commands open it", async () => {
  const before = await startBooks({ workers: 1 });
  const { state } = before;
  try {
    expect((await ask(before.url)).status).toBe(200);
    const key = before.createKey("demo");
    expect(await statusIs(401, before.url)).toBe(true);
    const early = before.run("keys", "open", "--yes");
    expect([early.code, early.output]).toEqual([1, expect.stringContaining("1 key is valid (demo)")]);
    before.signal("SIGTERM");
    await before.exited;
    for (const end of ["", "-wal", "-shm"]) rmSync(join(state, `weir.db${end}`), { force: true });
    expect(existsSync(join(state, "weir.mark"))).toBe(true);

    const after = await startBooks({ workers: 1, state });
    try {
      for (const credential of [undefined, key]) {
        const { status, text } = await ask(after.url, credential);
        expect([status, text]).toEqual([503, expect.stringContaining("weir store release")]);
      }
      const health = (await (await fetch(`${after.url}/health`)).json()) as object;
      expect(health).toMatchObject({ status: "ok", degraded: ["keys"] });
      expect(after.log.join("\n")).toContain("weir store release");
      const notYet = after.run("keys", "open", "--yes");
      expect([notYet.code, notYet.output]).toEqual([1, expect.stringContaining("weir store release first")]);

      expect(after.run("store", "release").code).toBe(0);
      expect(await statusIs(401, after.url)).toBe(true);
      const opened = after.run("keys", "open", "--yes");
      expect([opened.code, opened.output]).toEqual([0, expect.stringContaining("need no key")]);
      expect(await statusIs(200, after.url)).toBe(true);
      // The next key closes it again.
      const next = after.createKey("next");
      expect([await statusIs(401, after.url), await statusIs(200, after.url, next)]).toEqual([true, true]);
    } finally {
      await after.end();
    }
  } finally {
    await before.end();
    rmSync(state, { recursive: true, force: true });
  }
});
