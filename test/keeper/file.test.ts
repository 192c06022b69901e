/** The file of the store: its schema, what a killed writer leaves, what is deleted and when, and what a failure of it says. */
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AnswerFile } from "../../src/keeper/answers/file.ts";
import { openDatabase } from "../../src/keeper/store/database.ts";
import { openStore } from "./direct-link.ts";
import { AnswerKeeper } from "../../src/keeper/answers/keeper.ts";
import { migrate, readNumber, RESPONSES_MIGRATIONS } from "../../src/keeper/store/migrations.ts";
import type { AnswerReply, PackedAnswer } from "../../src/keeper/protocol.ts";
import { until } from "../helpers/serving.ts";
import { answerOf, CREATED, EXPIRES, itemOf, PATIENT_MS, refusal } from "./suite.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "weir-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LIMITS = { answerBytes: 10_000_000, items: 1_000, fileBytes: 1e9 };
const OWNER = "config:alice";
let names = 0;
const fresh = () => join(folder, `${names++}.db`);

const openFile = (path: string, now: () => number) =>
  new AnswerFile(openDatabase(path, RESPONSES_MIGRATIONS), LIMITS, now);

const bytesOf = (value: object) => new TextEncoder().encode(JSON.stringify(value));

/** An answer as the keeper gets it, with one item of random content, which does not compress. */
function packed(id: string, size = 100, changes: Partial<PackedAnswer> = {}): PackedAnswer {
  const { body: _, ...answer } = answerOf(id);
  const text = Buffer.from(crypto.getRandomValues(new Uint8Array(Math.ceil((size * 3) / 4)))).toString(
    "base64",
  );
  return { ...answer, input: [{ id: `${id}-in`, value: bytesOf({ text }) }], output: [], ...changes };
}

describe("migrations", () => {
  const first = "CREATE TABLE one (id INTEGER PRIMARY KEY) STRICT;";
  const second = "CREATE TABLE two (id INTEGER PRIMARY KEY) STRICT; INSERT INTO one VALUES (7);";
  const tablesOf = (db: Database) =>
    db
      .query<{ name: string }, []>("SELECT name FROM sqlite_master ORDER BY name")
      .all()
      .map(({ name }) => name);

  test("run once each, in order, and keep what is there", () => {
    const path = fresh();
    openDatabase(path, [first]).close();
    const db = openDatabase(path, [first, second]);
    expect(tablesOf(db)).toEqual(["one", "two"]);
    expect(readNumber(db, "user_version")).toBe(2);
    migrate(db, [first, second]);
    expect(db.query("SELECT * FROM one").all()).toEqual([{ id: 7 }]);
    db.close();
  });

  test("one that fails leaves the file as the one before left it", () => {
    const path = fresh();
    openDatabase(path, [first]).close();
    expect(() => openDatabase(path, [first, `${second} INSERT INTO absent VALUES (1);`])).toThrow(
      "no such table",
    );
    const db = openDatabase(path, [first]);
    expect(tablesOf(db)).toEqual(["one"]);
    expect(readNumber(db, "user_version")).toBe(1);
    db.close();
  });

  test("a file of a newer version is refused with a sentence, and unchanged", () => {
    const path = fresh();
    openDatabase(path, [first, second]).close();
    expect(() => openDatabase(path, [first])).toThrow(
      `${path} was written by a newer version of weir (schema 2; this version knows 1); run that version, or use another state folder`,
    );
    const db = openDatabase(path, [first, second]);
    expect(tablesOf(db)).toEqual(["one", "two"]);
    db.close();
  });

  test("a database of another program is refused", () => {
    const path = fresh();
    const other = new Database(path, { create: true });
    other.run("CREATE TABLE theirs (id INTEGER)");
    other.close();
    expect(() => openDatabase(path, [first])).toThrow(`${path} is a database of another program`);
  });

  test("the file is readable for its owner alone", () => {
    const path = fresh();
    openDatabase(path, [first]).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

describe("a failure", () => {
  test("a file that another process has open is a sentence, and the store works when that process has ended", async () => {
    const path = fresh();
    const other = Bun.spawn([process.execPath, join(import.meta.dir, "writer.ts"), path], { stdout: "pipe" });
    await other.stdout.getReader().read();
    expect(() => openDatabase(path, [])).toThrow(`${path} is locked by another process`);
    other.kill("SIGKILL");
    await other.exited;
    const store = openStore(path);
    expect(await store.put(answerOf("mine"), PATIENT_MS)).toBe("stored");
    await store.close();
  }, 600_000);

  test("a full disk rejects the answer, and the next one is stored when there is room", async () => {
    const path = fresh();
    const db = openDatabase(path, RESPONSES_MIGRATIONS);
    const file = new AnswerFile(db, LIMITS);
    const setPages = (pages: number) => db.run(`PRAGMA max_page_count = ${pages}`);
    file.put([{ answer: packed("a"), until: Infinity }]);
    setPages(1);
    expect(() => file.put([{ answer: packed("b", 200_000), until: Infinity }])).toThrow("full");
    expect(file.get({ id: "b", owner: OWNER })).toBeUndefined();
    expect(file.get({ id: "a", owner: OWNER })).toBeDefined();
    setPages(1_000_000);
    expect(file.put([{ answer: packed("b", 200_000), until: Infinity }])).toEqual(["stored"]);
    file.close();
  });

  test("a damaged page rejects what needs it, with a sentence", async () => {
    const path = fresh();
    const store = openStore(path);
    for (let n = 0; n < 50; n++) await store.put(answerOf(`n${n}`), PATIENT_MS);
    await store.close();
    const bytes = readFileSync(path);
    bytes.fill(0xaa, 4096 * 2);
    await Bun.write(path, bytes);
    const again = openStore(path);
    expect(await refusal(again.get("n1", OWNER))).toBe(
      `${path} is damaged; move it away, or restore it from a backup`,
    );
    await again.close();
  });
});

describe("the time of a put", () => {
  test("an answer that is late after its commit is deleted again", () => {
    let now = CREATED;
    let calls = 0;
    // The third look at the clock is the one after the commit.
    const file = openFile(fresh(), () => (++calls >= 3 ? (now += 1_000) : now));
    const outcomes = file.put([
      { answer: packed("late"), until: CREATED + 500 },
      { answer: packed("in-time"), until: CREATED + 500_000 },
    ]);
    expect(outcomes).toEqual(["late", "stored"]);
    expect(file.get({ id: "late", owner: OWNER })).toBeUndefined();
    expect(file.get({ id: "in-time", owner: OWNER })).toBeDefined();
    file.close();
  });

  test("a put that is retracted before its commit is not stored, after it is deleted", async () => {
    const keeper = new AnswerKeeper({ path: ":memory:", limits: LIMITS });
    const replies: AnswerReply[] = [];
    const ask = (number: number, message: Parameters<AnswerKeeper["handle"]>[0]["ask"]) =>
      keeper.handle({ number, ask: message }, (reply) => replies.push(reply));
    ask(1, { op: "put", answer: packed("a"), until: Infinity });
    ask(2, { op: "retract", id: "a", owner: OWNER });
    ask(3, { op: "put", answer: packed("b"), until: Infinity });
    expect(await until(() => replies.length === 3, 60_000)).toBe(true);
    ask(4, { op: "retract", id: "b", owner: "config:bob" });
    ask(5, { op: "retract", id: "b", owner: OWNER });
    ask(6, { op: "get", id: "b", owner: OWNER });
    expect(replies.map(({ number, value }) => [number, value])).toEqual([
      [1, "late"],
      [2, true],
      [3, "stored"],
      [4, false],
      [5, true],
      [6, undefined],
    ]);
    keeper.close();
  });
});

describe("a change of unknown outcome", () => {
  const ids = (file: AnswerFile) => file.get({ id: "c", owner: OWNER })!.input.map(({ id }) => id);
  const items = (...names: string[]) => names.map((id) => ({ id, value: bytesOf({ id }) }));

  test("is made once, however often it is asked", () => {
    const file = openFile(fresh(), () => CREATED);
    file.put([{ answer: packed("c", 100, { input: items("0") }), until: Infinity }]);
    const where = { id: "c", owner: OWNER, until: Infinity };
    const again = { ...where, again: true };
    const add = { add: items("1", "2") };
    expect([file.amend({ ...where, ...add }), file.amend({ ...again, ...add })]).toEqual([
      "stored",
      "stored",
    ]);
    expect(ids(file)).toEqual(["0", "1", "2"]);
    // The first one was not made.
    expect(file.amend({ ...again, add: items("3") })).toBe("stored");
    const drop = { drop: "0", add: [] };
    expect([file.amend({ ...where, ...drop }), file.amend({ ...again, ...drop })]).toEqual([
      "stored",
      "stored",
    ]);
    expect(file.amend({ ...where, ...drop })).toBe("unknown");
    expect(ids(file)).toEqual(["1", "2", "3"]);
    file.close();
  });

  test("is undone without a trace", () => {
    const file = openFile(fresh(), () => CREATED);
    file.put([{ answer: packed("c", 100, { input: items("0") }), until: Infinity }]);
    const before = file.get({ id: "c", owner: OWNER });
    file.amend({ id: "c", owner: OWNER, add: items("1", "2"), until: Infinity });
    const undo = { id: "c", owner: OWNER, items: ["1", "2"] };
    expect([file.undo({ ...undo, owner: "config:bob" }), ids(file).length]).toEqual([false, 3]);
    expect([file.undo(undo), file.undo(undo)]).toEqual([true, false]);
    expect(file.get({ id: "c", owner: OWNER })).toEqual(before);
    file.close();
  });
});

describe("deletion", () => {
  /** Sweeps until there is nothing left to delete. @returns number of steps */
  const sweepAll = (file: AnswerFile) => {
    let steps = 1;
    while (file.sweep()) steps++;
    return steps;
  };

  test("expired answers leave the file in steps, the others stay", () => {
    let now = CREATED;
    const file = openFile(fresh(), () => now);
    const all = Array.from({ length: 1_200 }, (_, n) =>
      packed(`n${n}`, 10, { expires: EXPIRES + (n % 2) * 1_000 }),
    );
    file.put(all.map((answer) => ({ answer, until: Infinity })));
    expect(sweepAll(file)).toBe(1);
    now = EXPIRES;
    expect(sweepAll(file)).toBe(3);
    now = CREATED;
    expect(file.get({ id: "n0", owner: OWNER })).toBeUndefined();
    expect(file.get({ id: "n1", owner: OWNER })).toBeDefined();
    file.close();
  });

  test("beyond the size of the file the answers that expire first are deleted, and the file stays small", async () => {
    const path = fresh();
    const limits = { fileBytes: 2_000_000 };
    const store = openStore(path, limits, () => CREATED);
    const put = (n: number) =>
      store.put(
        { ...answerOf(`n${n}`), ...unpackedOf(packed("x", 40_000)), id: `n${n}`, expires: EXPIRES + n },
        PATIENT_MS,
      );
    for (let n = 0; n < 150; n++) {
      expect(await put(n)).toBe("stored");
      await Bun.sleep(1);
    }
    expect(await until(async () => (await store.get("n0", OWNER)) === undefined, 60_000)).toBe(true);
    expect(await store.get("n149", OWNER)).toBeDefined();
    // Free pages go back to the disk.
    expect(await until(() => statSync(path).size < 3_000_000, 60_000)).toBe(true);
    await store.close();
  }, 600_000);

  test("an answer larger than the file may become is too large", async () => {
    const store = openStore(":memory:", { fileBytes: 1_000 });
    expect(await store.put(answerOf("a", { input: [itemOf("i", "x".repeat(2_000))] }), PATIENT_MS)).toBe(
      "too-large",
    );
    await store.close();
  });

  test("the content of a deleted answer is in no file of the folder", async () => {
    const own = mkdtempSync(join(folder, "deleted-"));
    const store = openStore(join(own, "answers.db"));
    const marker = "zebra-7141-quagga";
    await store.put(answerOf("secret", { input: [itemOf(marker)], output: [] }), PATIENT_MS);
    for (let n = 0; n < 20; n++) await store.put(answerOf(`other${n}`), PATIENT_MS);
    const holds = () => readdirSync(own).some((name) => readFileSync(join(own, name)).includes(marker));
    expect(holds()).toBe(true);
    expect(await store.delete("secret", OWNER)).toBe(true);
    expect(await until(() => !holds(), 60_000)).toBe(true);
    expect(await store.get("other3", OWNER)).toBeDefined();
    await store.close();
  }, 600_000);
});

function unpackedOf({ input }: PackedAnswer) {
  return {
    input: input.map(({ id, value }) => ({
      id,
      value: JSON.parse(new TextDecoder().decode(value)) as { text: string },
    })),
  };
}

test("a writer that is killed leaves every answer that it reported, and no half of one", async () => {
  const path = fresh();
  let last = 0;
  for (let round = 0; round < 4; round++) {
    const writer = Bun.spawn([process.execPath, join(import.meta.dir, "writer.ts"), path, String(last)], {
      stdout: "pipe",
      stderr: "inherit",
    });
    let said = "";
    for await (const bytes of writer.stdout) {
      said += new TextDecoder().decode(bytes);
      if (said.split("\n").length > 150 + round * 37) writer.kill("SIGKILL");
    }
    await writer.exited;
    const reported = said.split("\n").slice(0, -1).map(Number);
    const file = openFile(path, () => CREATED);
    for (const number of reported)
      expect(file.get({ id: `n${number}`, owner: OWNER })?.input.length).toBe(3 + (number % 5));
    last = Math.max(...reported) + 1;
    // Answers of which the writer did not hear are whole as well.
    for (let number = last; number < last + 8; number++) {
      const found = file.get({ id: `n${number}`, owner: OWNER });
      if (found) expect(found.input.length).toBe(3 + (number % 5));
    }
    file.close();
    last += 8;
  }
  const db = new Database(path);
  expect(db.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  expect(db.query("PRAGMA foreign_key_check").all()).toEqual([]);
  db.close();
}, 600_000);
