/** A client format of a plugin that does not say where its texts are: no guard can read it, and none lets it pass in silence. */
import { expect, test } from "bun:test";
import { startGateway } from "../../../../test/helpers/gateway.ts";

const plugins = {
  "tiny.ts": await Bun.file(`${import.meta.dir}/../../../../test/formats/tiny/tiny.ts`).text(),
};

/** @returns the answer to a request in the format of the plugin */
async function askWith(guards: object): Promise<[status: number, text: string, verdicts: string | null]> {
  const gateway = await startGateway({ config: { guards }, plugins, target: "source" });
  try {
    const response = await fetch(`${gateway.url}/v1/tiny`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "mock/chat", say: [{ who: "user", text: "mail anna@example.com" }] }),
    });
    return [response.status, await response.text(), response.headers.get("x-weir-guards")];
  } finally {
    await gateway.stop();
  }
}

test("a guard that may stop a value refuses a request that it cannot read", async () => {
  const [status, text] = await askWith({ pii: { find: ["email"], do: "replace" } });
  expect(status).toBe(400);
  expect(text).toContain('The guard \\"pii\\" cannot read requests of the format tiny');
});

test("a guard that only notes values lets it pass", async () => {
  const [status, , verdicts] = await askWith({ pii: { find: ["email"], do: "flag" } });
  expect([status, verdicts]).toEqual([200, "pii=not-inspected, uninspected=format:1"]);
});
