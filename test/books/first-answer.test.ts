/** The first calls of a gateway with one worker, whose keeper starts after its first answer. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TARGET } from "../helpers/gateway.ts";
import { serve } from "../helpers/serving.ts";

const LONG_MS = 60_000;
const binary = TARGET === "binary";

test(
  "from the first call after a restart on, a key of the store is admitted, and a call without key is not",
  async () => {
    const state = mkdtempSync(join(tmpdir(), "weir-first-"));
    const options = { config: "", workers: 1, binary, env: { WEIR_STATE: state } };
    const before = await serve(options);
    const { code, output } = before.run("keys", "create", "alice", "--json");
    expect({ code, output: code === 0 ? "" : output }).toEqual({ code: 0, output: "" });
    const { secret } = JSON.parse(output.slice(0, output.lastIndexOf("}") + 1)) as { secret: string };
    before.signal("SIGTERM");
    await before.exited;

    const port = freePort();
    let isOver = false;
    const statuses = { with: [] as number[], without: [] as number[] };
    const callers = Object.entries({ with: secret, without: undefined }).map(async ([name, key]) => {
      while (!isOver) {
        const status = await statusOf(port, key);
        if (status !== undefined) statuses[name as keyof typeof statuses].push(status);
        await Bun.sleep(1);
      }
    });
    const after = await serve({ ...options, port });
    await Bun.sleep(300);
    isOver = true;
    await Promise.all(callers);
    expect(new Set(statuses.with)).toEqual(new Set([200]));
    expect(new Set(statuses.without)).toEqual(new Set([401]));
    await Promise.all([before.end(), after.end()]);
    rmSync(state, { recursive: true, force: true });
  },
  LONG_MS,
);

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  return listener.port;
}

/** @returns undefined while the gateway does not listen */
async function statusOf(port: number, key: string | undefined): Promise<number | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ model: "mock/chat", messages: [{ role: "user", content: "hello" }] }),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}
