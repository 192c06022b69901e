/** Two gateways on one PostgreSQL: a rule of one holds at both, and a running call is watched where it runs. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { startBooks } from "../../../../test/books/running.ts";
import { missingPostgres, startPostgres } from "../../../../test/helpers/postgres.ts";
import { until } from "../../../../test/helpers/serving.ts";
import type { CaptureRule } from "../contracts.ts";

setDefaultTimeout(120_000);

describe.skipIf(missingPostgres !== undefined)(`PostgreSQL (${missingPostgres ?? "present"})`, () => {
  test("a rule that is added at one node captures at the other, until it is removed there", async () => {
    const server = await startPostgres();
    const config = { store: { url: await server.createDatabase() } };
    const nodes = [await startBooks({ workers: 2, config }), await startBooks({ workers: 2, config })];
    const [one, other] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
    const isCaptured = async () => {
      const response = await fetch(`${other.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-session-id": "sess-1" },
        body: JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content: "Hello" }] }),
      });
      await response.text();
      const id = response.headers.get("x-request-id")!;
      let call: { captured?: true; session?: string } | undefined;
      const read = async () =>
        (call = await other.api.send<object>("GET", `/calls/${id}`).catch(() => undefined)) !== undefined;
      await until(read);
      return call!;
    };
    try {
      const { session, captured } = await isCaptured();
      expect(captured).toBeUndefined();
      const body = { on: { kind: "session", what: session! } };
      const rule = await one.api.send<CaptureRule>("POST", "/capture/rules", { body });
      expect(await until(async () => (await isCaptured()).captured === true, 10_000)).toBe(true);
      const listed = await other.api.send<{ rules: CaptureRule[] }>("GET", "/capture/rules");
      expect(listed.rules).toEqual([rule]);
      await other.api.send("DELETE", `/capture/rules/${rule.id}`);
      expect((await isCaptured()).captured).toBeUndefined();
      expect(await one.api.send<object>("GET", "/capture/rules")).toEqual({ rules: [] });
    } finally {
      await Promise.all(nodes.map((node) => node.end()));
      await server.close();
    }
  });
});
