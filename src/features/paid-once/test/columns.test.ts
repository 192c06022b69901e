/** The record of a repeat, as commands show it: every process that shows records has the columns of the feature. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { startBooks } from "../../../../test/books/running.ts";
import { until } from "../../../../test/helpers/serving.ts";

setDefaultTimeout(60_000);

const CHAT = JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content: "hello" }] });
const CONFIG = { paidOnce: { enabled: true } };

test.each([
  ["a thread of the worker", 1],
  ["a process beside two workers", 2],
] as const)("weir logs says who paid, with the keeper in %s, and without a gateway", async (_, workers) => {
  const weir = await startBooks({ workers, config: CONFIG });
  try {
    const ask = async () => {
      const headers = { "content-type": "application/json", "idempotency-key": "one" };
      const response = await fetch(`${weir.url}/v1/chat/completions`, {
        method: "POST",
        headers,
        body: CHAT,
      });
      await response.text();
      return response.headers.get("x-request-id")!;
    };
    const first = await ask();
    const repeat = await ask();
    const shown = (...state: string[]) => weir.run("logs", "--call", repeat, ...state).output;
    expect(await until(() => shown().includes(repeat))).toBe(true);
    const paid = new RegExp(`^paid by +${first}$`, "m");
    expect(shown()).toMatch(paid);
    weir.signal("SIGTERM");
    await weir.exited;
    expect(shown("--state", weir.state)).toMatch(paid);
  } finally {
    await weir.end();
  }
});
