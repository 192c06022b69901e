/** A gateway that had keys, after each kind of damage to its files: recovered, closed or refused, and never open. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Database } from "bun:sqlite";
import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { sqliteStore } from "../../src/keeper/store/sqlite-store.ts";
import { openDatabase } from "../../src/keeper/store/database.ts";
import { RESPONSES_MIGRATIONS } from "../../src/keeper/store/migrations.ts";
import { startWeir } from "../../src/run/weir.ts";
import { markdownTable, readDocument, ROOT, withPart } from "../helpers/documents.ts";
import { ACTOR, attempt, batch, budget, call, commit, key } from "./books/make.ts";
import { DAMAGES, type Ending } from "./damage.ts";

setDefaultTimeout(120_000);

const root = mkdtempSync(join(tmpdir(), "weir-damage-"));
/** State folders as a gateway leaves them that was stopped, and one that was killed. */
const stopped = join(root, "stopped");
const killed = join(root, "killed");

const README = "src/keeper/store/README.md";

/** The text of a key is its id. */
const APP = "key_app";
const CAPPED = "key_capped";
const DECLARED = "a-key-of-the-config-1234";

beforeAll(async () => {
  cpSync(mkdtempSync(join(tmpdir(), "weir-empty-")), stopped, { recursive: true });
  const path = join(stopped, "weir.db");
  await sqliteStore(join(stopped, "empty.db")).open();
  new Database(join(stopped, "foreign.db"), { create: true }).run("CREATE TABLE theirs (id INTEGER)");
  const store = sqliteStore(path);
  await store.open();
  await store.saveKey(key(APP), ACTOR);
  await store.saveKey(key(CAPPED), ACTOR);
  await store.saveBudget(budget("cap", { on: { kind: "key", what: CAPPED } }), ACTOR);
  await store.close();
  copyFileSync(path, join(stopped, "older.db"));
  await store.open();
  for (let seq = 1; seq <= 4; seq++)
    await store.commit(
      commit({
        batches: [
          batch(
            seq,
            Array.from({ length: 300 }, () => call({ attempts: [attempt()] })),
          ),
        ],
      }),
    );
  // The mark is written at most once a second.
  await Bun.sleep(1_100);
  await store.commit(commit({ batches: [batch(5, [call()])] }));
  cpSync(stopped, killed, { recursive: true });
  await store.close();
  for (const folder of [stopped, killed]) {
    openDatabase(join(folder, "responses.db"), RESPONSES_MIGRATIONS).close();
  }
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

let copies = 0;
function copyOf(template: string): string {
  const folder = join(root, `state-${copies++}`);
  cpSync(template, folder, { recursive: true });
  return folder;
}

async function start(folder: string) {
  const yaml = `keys: [{name: declared, key: ${DECLARED}}]\n`;
  await Bun.write(join(folder, "config", "weir.yaml"), yaml);
  const flags = { "--port": "0", "--state": folder };
  const { config } = loadConfig({ flags, env: {}, cwd: join(folder, "config") });
  const log: string[] = [];
  const home = { kind: "folder", folder, named: true } as const;
  const weir = await startWeir({
    config: { ...config, admin: "off" },
    env: {},
    home,
    write: (line) => void log.push(line),
  });
  return { weir, log };
}

async function ask(url: string, credential?: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
    },
    body: JSON.stringify({ model: "mock/chat", messages: [{ role: "user", content: "hi" }] }),
  });
  return { status: answer.status, text: await answer.text() };
}

const isReleasable = ({ status, text }: { status: number; text: string }) =>
  status === 503 && text.includes("weir store release");

/** What became of a gateway with this state folder. @throws Error if it is in none of the three states */
async function endingOf(folder: string): Promise<Ending> {
  let running: Awaited<ReturnType<typeof start>>;
  try {
    running = await start(folder);
  } catch (cause) {
    expect(String(cause)).toMatch(/weir\.(db|mark)/);
    return "refused";
  }
  const { weir } = running;
  try {
    const none = await ask(weir.url);
    const app = await ask(weir.url, APP);
    const capped = await ask(weir.url, CAPPED);
    // Keys of the config stay as they are.
    expect((await ask(weir.url, DECLARED)).status).toBe(200);
    if (isReleasable(none) && isReleasable(app) && isReleasable(capped)) return "closed";
    expect([none.status, app.status]).toEqual([401, 200]);
    if (capped.status !== 200 && !isReleasable(capped)) expect(capped).toEqual({ status: 200, text: "" });
    return "recovered";
  } finally {
    await weir.stop();
  }
}

test("a gateway that was stopped, or killed, knows its keys without any damage", async () => {
  for (const template of [stopped, killed]) expect(await endingOf(copyOf(template))).toBe("recovered");
});

describe("damage", () => {
  for (const { file, what, ends, killed: wasKilled, harm } of DAMAGES)
    test(`${file}, ${what}: ${ends.join(" or ")}`, async () => {
      const folder = copyOf(wasKilled ? killed : stopped);
      harm(folder);
      const first = await endingOf(folder);
      expect(ends).toContain(first);
      // Another start changes nothing: neither does it open what was closed, nor forget why.
      if (first === "refused") return;
      const store = sqliteStore(join(folder, "weir.db"));
      await store.open();
      const { closed, unreleased } = await store.policy();
      expect([closed, unreleased === "all"]).toEqual([true, first === "closed"]);
      await store.close();
    });

  test("is of at least 30 kinds, which the README lists with their states", async () => {
    expect(DAMAGES.length).toBeGreaterThanOrEqual(30);
    const rows = DAMAGES.map(({ file, what, ends }) => [file, what, ends.join(" or ")]);
    const wanted = withPart(README, "damage", markdownTable(["file", "what happened to it", "state"], rows));
    if (process.env["UPDATE"] === "1") await Bun.write(join(ROOT, README), wanted);
    const plain = (text: string) => text.replaceAll(/ +\|/g, " |").replaceAll(/-+/g, "-");
    expect(plain(readDocument(README))).toBe(plain(wanted));
  });
});

test("after a release the keys that were recovered admit calls, and the gateway stays closed", async () => {
  const folder = copyOf(stopped);
  copyFileSync(join(folder, "older.db"), join(folder, "weir.db"));
  expect(await endingOf(folder)).toBe("closed");
  const store = sqliteStore(join(folder, "weir.db"));
  await store.open();
  await store.release(ACTOR);
  await store.close();
  expect(await endingOf(folder)).toBe("recovered");
});

test("a release without any key leaves the gateway closed; opening it is another step", async () => {
  const folder = copyOf(stopped);
  rmSync(join(folder, "weir.db"));
  const store = sqliteStore(join(folder, "weir.db"));
  await store.open();
  expect(await store.policy()).toMatchObject({ keys: [], closed: true, unreleased: "all" });
  expect(store.closedBecause).toContain("weir store release");
  await store.release(ACTOR);
  expect(await store.policy()).toMatchObject({ keys: [], closed: true });
  await store.close();
  await store.open();
  expect(await store.policy()).not.toHaveProperty("unreleased");
  await store.openKeys(ACTOR);
  expect((await store.policy()).closed).toBe(false);
  await store.close();
  await store.open();
  expect((await store.policy()).closed).toBe(false);
  await store.saveKey(key("key_next"), ACTOR);
  expect((await store.policy()).closed).toBe(true);
  await store.close();
});

test("the mark is written before the first key is valid, and a key that was refused leaves no mark", async () => {
  const folder = copyOf(join(root, "stopped"));
  const path = join(folder, "next.db");
  const mark = () => JSON.parse(readFileSync(join(folder, "next.mark"), "utf8")) as { closed: boolean };
  const store = sqliteStore(path);
  await store.open();
  expect(existsSync(join(folder, "next.mark"))).toBe(true);
  expect(mark().closed).toBe(false);
  await expect(store.saveKey(key("key_1"), ACTOR, { version: 7 })).rejects.toThrow("has changed");
  expect(mark().closed).toBe(false);
  await store.saveKey(key("key_1"), ACTOR);
  expect(mark().closed).toBe(true);
  await store.close();
});
