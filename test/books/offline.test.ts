/** Reports and keys of a gateway that is not running, from its state folder. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { alterStore, startBooks } from "./running.ts";

setDefaultTimeout(120_000);

const CHAT = JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content: "hello" }] });

test("without a gateway the commands read its folder, and the audit names what was changed by hand", async () => {
  const weir = await startBooks({ workers: 1 });
  try {
    const headers = { "content-type": "application/json" };
    for (let count = 0; count < 3; count++)
      await (await fetch(`${weir.url}/v1/chat/completions`, { method: "POST", headers, body: CHAT })).text();
    const locked = weir.run("audit", "--state", weir.state);
    expect([locked.code, locked.output]).toEqual([1, expect.stringContaining(`(pid ${weir.pid})`)]);
    weir.signal("SIGTERM");
    await weir.exited;
    const state = ["--state", weir.state];
    expect(weir.run("audit").output).toContain("no gateway of this user is running");
    expect(weir.run("audit", ...state)).toMatchObject({
      code: 0,
      output: expect.stringMatching(/3 calls[^]*The books hold\./),
    });
    const usage = JSON.parse(weir.run("usage", "--by", "model", "--json", ...state).output) as object;
    expect(usage).toMatchObject({ total: { calls: 3 }, rows: [{ group: { model: "echo" } }] });
    expect(weir.run("keys", "create", "later", ...state).output).toContain("weir_sk_");
    expect(weir.run("keys", "list", ...state).output).toContain("later");
    alterStore(weir.state, (database) => database.run("UPDATE calls SET cost = cost + 1"));
    const red = weir.run("audit", ...state);
    expect([red.code, red.output]).toEqual([1, expect.stringMatching(/^FAILED.*sums by hour/m)]);
  } finally {
    await weir.end();
  }
});
