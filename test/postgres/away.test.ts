/** What a gateway does while the database is away: each row of the table on the page of Kubernetes, one after another. */
import { afterAll, afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { askModel, type RunningBooks, startBooks } from "../books/running.ts";
import { completion, COST } from "../books/stress.ts";
import { readDocument } from "../helpers/documents.ts";
import { missingPostgres, startPostgres, type TestPostgres } from "../helpers/postgres.ts";
import { serve, type Serving, until } from "../helpers/serving.ts";
import { json, startUpstream } from "../helpers/upstream.ts";

setDefaultTimeout(240_000);

const TITLE = "what a pod does while the database is away";

/** First cells of the table. */
function rowsOfPage(): string[] {
  const lines = readDocument(".github/deploy/kubernetes.md").split("\n");
  const at = lines.findIndex((line) => line.includes(TITLE));
  const rows = lines.slice(at + 2, lines.indexOf("", at));
  return rows.map((row) => row.split("|")[1]!.trim());
}

interface Scene {
  server: TestPostgres;
  gateway: RunningBooks;
  /** Starts another gateway on the same database. */
  another(): Promise<Serving>;
  free: string;
  tight: string;
}

const status = async (url: string, key?: string, model = "host/m") => {
  const response = await askModel(url, model, key);
  const text = await response.text();
  return { status: response.status, text };
};

/** While the store is away it cannot be read. */
const charged = ({ api }: RunningBooks) =>
  api.ask("GET /usage").then(
    ({ total }) => total.cost,
    () => -1,
  );

/** By the first cell. They run in the order of the table, while the database is away. */
const CHECKS: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  async "calls without a hard budget"({ gateway, free }) {
    for (let n = 0; n < 50; n++) expect((await status(gateway.url, free)).status).toBe(200);
  },
  async "calls under a hard budget"({ gateway, tight }) {
    const answers = [];
    for (let n = 0; n < 400 && answers.at(-1)?.status !== 503; n++)
      answers.push(await status(gateway.url, tight));
    expect(answers[0]!.status).toBe(200);
    expect(answers.at(-1)!.text).toContain("ledger_unavailable");
    expect(answers.slice(0, -1).every((answer) => answer.status === 200)).toBe(true);
  },
  async "records of calls"({ gateway }) {
    const metrics = await fetch(`${gateway.admin.url}/metrics`, {
      headers: { authorization: `Bearer ${gateway.admin.credential}` },
    });
    expect(Number(/^weir_spool_records (\d+)$/m.exec(await metrics.text())?.[1])).toBeGreaterThan(0);
  },
  async "keys, budgets and models of the store"({ gateway, free }) {
    expect((await status(gateway.url, free, "stored")).status).toBe(200);
    expect((await status(gateway.url)).status).toBe(401);
  },
  async "changes in the console"({ gateway }) {
    expect(gateway.run("keys", "create", "meanwhile").output).toContain("The books cannot be used");
  },
  async "`/health`"({ gateway }) {
    const response = await fetch(`${gateway.url}/health`);
    expect(response.status).toBe(200);
    expect(((await response.json()) as { degraded?: string[] }).degraded).toContain("ledger");
  },
  async "a pod that starts"({ server, another, free }) {
    const late = await another();
    const answer = await status(late.url, free);
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining("retry")]);
    await server.start();
    expect(await until(async () => (await status(late.url, free)).status === 200, 30_000)).toBe(true);
  },
};

if (missingPostgres) test.skip(`the database is away: ${missingPostgres}`, () => {});
else {
  const server = await startPostgres();
  const running: Serving[] = [];
  const upstream = startUpstream((request) =>
    request.path.endsWith("/models") ? json({ object: "list", data: [] }) : json(completion()),
  );
  afterEach(async () => {
    for (const gateway of running.splice(0)) await gateway.end();
  });
  afterAll(async () => {
    upstream.stop();
    await server.close();
  });

  test("each row of the table holds, and all records are in the books afterwards", async () => {
    expect(rowsOfPage()).toEqual(Object.keys(CHECKS));
    const host = { baseUrl: `${upstream.url}/v1`, apiKey: "sk-x", speaks: "chat-completions", models: ["m"] };
    const config = {
      store: { url: server.url },
      cluster: true,
      providers: { host },
      prices: { "host/*": { input: 1, output: 2 } },
    };
    const gateway = await startBooks({ workers: 2, config: { ...config, admin: {} } });
    running.push(gateway);
    const [free, tight] = [
      gateway.createKey("free"),
      gateway.createKey("tight", "--budget", "1000", "--hard"),
    ];
    expect(gateway.run("models", "add", "stored", "host/m").code).toBe(0);
    for (const key of [free, tight])
      expect(await until(async () => (await status(gateway.url, key)).status === 200)).toBe(true);
    expect(await until(async () => (await status(gateway.url, free, "stored")).status === 200)).toBe(true);
    const another = async () => {
      const late = await serve({ workers: 1, config: JSON.stringify({ ...config, state: "state" }) });
      running.push(late);
      return late;
    };
    await server.stop();
    for (const [row, check] of Object.entries(CHECKS)) {
      await check({ server, gateway, another, free, tight }).catch((cause: unknown) => {
        throw new Error(`"${row}" does not hold: ${String(cause)}`, { cause });
      });
    }
    const answered = () => upstream.requests.filter(({ path }) => path.endsWith("/completions")).length;
    expect(await until(async () => (await charged(gateway)) === answered() * COST, 30_000)).toBe(true);
  });
}
