/** Models that are added at run time, with two gateways on one PostgreSQL. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningBooks, startBooks } from "../books/running.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { until } from "../helpers/serving.ts";

setDefaultTimeout(120_000);

const KEY = "a-key-of-the-config-123456";

async function call({ url }: RunningBooks, model: string) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close", authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }] }),
  });
  return { status: response.status, text: await response.text() };
}

/** Whether each of several calls, which may reach any worker, has the status. */
async function haveAll(weir: RunningBooks, model: string, status: number): Promise<boolean> {
  const answers = await Promise.all(Array.from({ length: 8 }, () => call(weir, model)));
  return answers.every((answer) => answer.status === status);
}

if (missingPostgres) test.skip(`stored models in PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("stored models in PostgreSQL", async () => {
    const server = await startPostgres();
    afterAll(() => server.close());

    test("each gateway takes a change of the other over, and a start without the server does not say 404", async () => {
      const config = {
        store: { url: await server.createDatabase() },
        cluster: true,
        keys: [{ name: "k", key: KEY }],
      };
      const [one, other] = await Promise.all([
        startBooks({ workers: 2, config }),
        startBooks({ workers: 1, config }),
      ]);
      let late: RunningBooks | undefined;
      try {
        await one.api.send("POST", "/stored-models", { body: { name: "shared", to: "mock/echo" } });
        expect(await haveAll(one, "shared", 200)).toBe(true);
        expect(await until(() => haveAll(other, "shared", 200), 10_000)).toBe(true);
        await other.api.send("DELETE", "/stored-models/shared");
        expect(await haveAll(other, "shared", 404)).toBe(true);
        expect(await until(() => haveAll(one, "shared", 404), 10_000)).toBe(true);
        await one.api.send("POST", "/stored-models", { body: { name: "shared", to: "mock/echo" } });
        await other.end();
        await server.stop();
        expect(await haveAll(one, "shared", 200)).toBe(true);
        late = await startBooks({ workers: 1, config });
        expect(await call(late, "shared")).toMatchObject({
          status: 503,
          text: expect.stringContaining("ledger_unavailable"),
        });
        await server.start();
        expect(await until(() => haveAll(late!, "shared", 200), 20_000)).toBe(true);
      } finally {
        await late?.end();
        await one.end();
        await other.end();
      }
    });
  });
