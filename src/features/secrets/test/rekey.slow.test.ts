/** What the store keeps of secrets is sealed, and gets another key while calls run. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { askModel, type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { Envelope, rowOf } from "../../../core/envelope.ts";

setDefaultTimeout(120_000);

const ROWS = 10_000;
const TABLE = "identity_provider_tokens";
const [FIRST, SECOND, THIRD] = ["first", "second", "third"].map(
  (name) => `${name}-key-of-the-store-0123456789-0123`,
);
const state = `/tmp/weir-rekey-${crypto.randomUUID()}`;
const tokenOf = (row: number) => `planted-refresh-token-${row}`;
const config = (store: object) => ({ store, guards: { pii: { find: ["email"], do: "replace" } } });

let books: RunningBooks;
const start = async (store: object) => {
  // `end` of a gateway deletes the state folder.
  books = await startBooks({ workers: 1, state, config: config(store), env: { SEAL: FIRST!, OLD: FIRST! } });
};
const stop = async () => {
  books.signal("SIGTERM");
  await books.exited;
};

function fill(): void {
  const database = new Database(join(state, "weir.db"));
  const envelope = new Envelope(FIRST!);
  const insert = database.prepare(`INSERT INTO ${TABLE} VALUES ($1, $2, $3, $4, NULL, 0)`);
  database.transaction(() => {
    for (let row = 0; row < ROWS; row++) {
      const key = [`per_${row}`, "corp"] as const;
      insert.run(...key, envelope.seal(tokenOf(row), rowOf(TABLE, "sealed", key)), Date.now());
    }
  })();
  database.close();
}

/** How many tokens a key opens. */
function opened(key: string): number {
  const database = new Database(join(state, "weir.db"), { readonly: true });
  const envelope = new Envelope(key);
  const rows = database
    .query<{ person: string; sealed: string }, []>(`SELECT person, sealed FROM ${TABLE}`)
    .all();
  database.close();
  return rows.filter(
    ({ person, sealed }) =>
      envelope.open(sealed, rowOf(TABLE, "sealed", [person, "corp"])) === tokenOf(Number(person.slice(4))),
  ).length;
}

beforeAll(() => start({ sealKey: "${SEAL}" }));
afterAll(() => books.end());

test("the secret of guards is sealed with the first call that needs it", async () => {
  const answer = await fetch(`${books.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "mock/chat",
      messages: [{ role: "user", content: "mail anna@example.com" }],
    }),
  });
  expect(answer.status).toBe(200);
  const database = new Database(join(state, "weir.db"), { readonly: true });
  const { secret } = database.query<{ secret: string }, []>("SELECT secret FROM guards_secret").get()!;
  database.close();
  expect(secret).toStartWith("we1.");
  expect(new Envelope(FIRST!).open(secret, rowOf("guards_secret", "secret", ["tokens"]))).toHaveLength(43);
});

test(`${ROWS} secrets get another key while calls run; a second run changes nothing`, async () => {
  await stop();
  fill();
  expect(opened(FIRST!)).toBe(ROWS);
  await start({ sealKey: SECOND, oldSealKeys: ["${OLD}"] });
  let calls = 0;
  const failed: number[] = [];
  let isRunning = true;
  const load = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (isRunning) {
        const { status } = await askModel(books.url, "mock/chat");
        if (status !== 200) failed.push(status);
        calls++;
      }
    }),
  );
  const began = performance.now();
  const ran = await books.runBeside("secrets", "rekey", "--json");
  const ms = performance.now() - began;
  isRunning = false;
  await load;
  expect([ran.code, JSON.parse(ran.output)]).toEqual([0, { rewrapped: ROWS + 1, current: 0, unreadable: 0 }]);
  expect(failed).toEqual([]);
  expect(calls).toBeGreaterThan(20);
  expect(opened(SECOND!)).toBe(ROWS);
  expect(opened(FIRST!)).toBe(0);
  console.log(`${ROWS} rows in ${Math.round(ms)} ms, ${calls} calls meanwhile`);
  const again = await books.runBeside("secrets", "rekey");
  expect(again.output).toContain(`0 secrets of the store have the key of now, ${ROWS + 1} had it before`);
});

test("a wrong key: one sentence in the log, and a rekey says how many it cannot open", async () => {
  await stop();
  await start({ sealKey: THIRD });
  const sentence = () =>
    books.log.filter((line) => line.includes("sealed with another key than store.sealKey"));
  expect(await until(() => sentence().length > 0, 10_000)).toBe(true);
  expect(sentence().length).toBe(1);
  const ran = await books.runBeside("secrets", "rekey");
  expect(ran.code).toBe(1);
  expect(ran.output).toContain(`${ROWS + 1} are sealed with a key that is not in store.oldSealKeys`);
  expect(opened(SECOND!)).toBe(ROWS);
});

test("nothing of the secrets can be read in the files, and a key of a file is for its user alone", async () => {
  await stop();
  const text = readFileSync(join(state, "weir.db"), "latin1");
  expect(text).not.toContain("planted-refresh-token");
  for (const key of [FIRST!, SECOND!, THIRD!]) expect(text).not.toContain(key);
  await start({});
  writeFileSync(join(books.folder, "note"), "");
  await askModel(books.url, "mock/chat");
  await books.runBeside("secrets", "rekey");
  const file = join(state, "seal.key");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8").trim()).toMatch(/^[0-9a-f]{64}$/);
});
