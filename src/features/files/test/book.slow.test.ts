/** The rows of files, in both databases: what expires, what is held, quotas under contention, uploads. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingPostgres, startPostgres } from "../../../../test/helpers/postgres.ts";
import { createKeptId } from "../../../core/kept-id.ts";
import { openBooks } from "../../../keeper/books/index.ts";
import { IN_MEMORY } from "../../../keeper/settings.ts";
import { Answerer } from "../book/answerer.ts";
import type { FileRow, FilesAnswer, FilesAsk, UploadRow } from "../messages.ts";
import { tables } from "../tables.ts";

setDefaultTimeout(60_000);

const QUOTA = 1_000;
const HOUR = 3_600_000;

async function openNode(url: string, folder: string) {
  const settings = {
    url,
    cluster: url !== IN_MEMORY,
    syncMs: 0,
    leaseMs: 900_000,
    sealKey: "a key of all nodes",
  };
  const { keeper, books, host } = await openBooks(settings, [{ feature: "files", tables }]);
  keeper.open();
  await books.opened;
  let later = 0;
  const answerer = new Answerer(
    host,
    () => folder,
    () => Date.now() + later,
  );
  const ask = async (question: FilesAsk): Promise<FilesAnswer> => {
    const answer = await answerer.answer(question);
    if (!answer) throw new Error("the store could not be used");
    return answer;
  };
  return {
    ask,
    sweep: () => answerer.sweep({ where: "state" }),
    skip: (ms: number) => void (later += ms),
    close: () => keeper.close(),
  };
}

const fileOf = (facts: Partial<FileRow> = {}): FileRow => ({
  ...{
    id: createKeptId(),
    path: "/eng",
    key: "key_a",
    name: "a",
    purpose: "batch",
    bytes: 100,
    mime: "text/plain",
  },
  ...{ sha256: "0".repeat(64), createdAt: Date.now(), keptIn: "state" },
  ...facts,
});

const uploadOf = (): UploadRow => ({
  ...{
    id: createKeptId(),
    path: "/eng",
    key: "key_a",
    kind: "parts",
    bytes: 600,
    received: 0,
    state: "pending",
  },
  facts: { name: "a", purpose: "batch", mime: "text/plain", keepMs: HOUR },
  ...{ createdAt: Date.now(), expiresAt: Date.now() + HOUR },
});

const partOf = (upload: string, bytes: number) => ({
  ...{ id: createKeptId(), upload, bytes, keptIn: "state", createdAt: Date.now() },
});

const server = missingPostgres ? undefined : await startPostgres();
const folder = mkdtempSync(join(tmpdir(), "weir-files-book-"));
afterAll(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(server ? ["sqlite", "postgres"] : ["sqlite"])("%s", (kind) => {
  const urlOf = async () => (kind === "sqlite" ? IN_MEMORY : server!.createDatabase());

  test("a path has one key, which is made once", async () => {
    const node = await openNode(await urlOf(), folder);
    const keys = await Promise.all([1, 2, 3].map(() => node.ask({ open: "/eng" })));
    expect(new Set(keys.map(({ key }) => key)).size).toBe(1);
    expect(Buffer.from(keys[0]!.key!, "base64").length).toBe(32);
    expect((await node.ask({ open: "/other" })).key).not.toBe(keys[0]!.key);
    await node.close();
  });

  test("who sees a file", async () => {
    const node = await openNode(await urlOf(), folder);
    await node.ask({ open: "/eng" });
    const file = fileOf({ person: "p1" });
    await node.ask({ add: file, quota: QUOTA });
    const sees = async (seer?: { path: string; key?: string; person?: string; seesPath: boolean }) =>
      (await node.ask({ find: file.id, ...(seer && { seer }) })).files!.length;
    expect(await sees()).toBe(1);
    expect(await sees({ path: "/x", key: "key_a", seesPath: false })).toBe(1);
    expect(await sees({ path: "/x", person: "p1", seesPath: false })).toBe(1);
    expect(await sees({ path: "/eng", key: "key_b", person: "p2", seesPath: false })).toBe(0);
    expect(await sees({ path: "/eng", key: "key_b", seesPath: true })).toBe(1);
    expect(await sees({ path: "/eng/below", key: "key_b", seesPath: true })).toBe(0);
    expect(await sees({ path: "/eng", seesPath: false })).toBe(0);
    await node.close();
  });

  test("20 files at once do not exceed a quota, and deleting leaves room", async () => {
    const url = await urlOf();
    const nodes = [await openNode(url, folder)];
    if (kind === "postgres") nodes.push(await openNode(url, folder));
    await nodes[0]!.ask({ open: "/eng" });
    const files = Array.from({ length: 20 }, () => fileOf());
    const answers = await Promise.all(
      files.map((file, index) => nodes[index % nodes.length]!.ask({ add: file, quota: QUOTA })),
    );
    expect(answers.filter(({ refused }) => refused === undefined).length).toBe(10);
    expect(answers.filter(({ refused }) => refused === "quota").length).toBe(10);
    const [node] = nodes;
    expect((await node!.ask({ open: "/eng" })).used).toBe(QUOTA);
    const { files: listed } = await node!.ask({ list: { isAscending: true, limit: 50 } });
    expect(listed!.length).toBe(10);
    for (const { id } of listed!) await node!.ask({ remove: id });
    expect((await node!.ask({ open: "/eng" })).used).toBe(0);
    for (const one of nodes) await one.close();
  });

  test("what has expired is gone at once, and its bytes with the next sweep; what is held stays", async () => {
    const node = await openNode(await urlOf(), folder);
    await node.ask({ open: "/eng" });
    const [short, held, long] = [1, 1, 10].map((hours) => fileOf({ expiresAt: Date.now() + hours * HOUR }));
    for (const file of [short!, held!, long!]) {
      await node.ask({ add: file, quota: QUOTA });
      writeFileSync(join(folder, file.id), "x");
    }
    await node.ask({ hold: held!.id, by: "batch" });
    node.skip(2 * HOUR);
    const found = async () =>
      (await node.ask({ list: { isAscending: true, limit: 9 } })).files!.map(({ id }) => id);
    expect(await found()).toEqual([held!.id, long!.id].sort());
    await node.sweep();
    expect((await readdir(folder)).sort()).toEqual([held!.id, long!.id].sort());
    expect((await node.ask({ open: "/eng" })).used).toBe(200);
    await node.ask({ release: held!.id, by: "batch" });
    await node.sweep();
    expect(await readdir(folder)).toEqual([long!.id]);
    expect((await node.ask({ remove: long!.id })).files![0]!.id).toBe(long!.id);
    rmSync(join(folder, long!.id));
    await node.close();
  });

  test("a sweep deletes leftovers that are older than an hour, and nothing else", async () => {
    const node = await openNode(await urlOf(), folder);
    await node.ask({ open: "/eng" });
    const file = fileOf();
    await node.ask({ add: file, quota: QUOTA });
    const upload = uploadOf();
    await node.ask({ begin: upload });
    const part = partOf(upload.id, 1);
    await node.ask({ addPart: part, most: 600, quota: QUOTA });
    const [old, young] = [createKeptId(), createKeptId()];
    for (const name of [file.id, part.id, old, `${old}.new`, young]) writeFileSync(join(folder, name), "x");
    const past = new Date(Date.now() - 2 * HOUR);
    for (const name of [file.id, part.id, old, `${old}.new`]) utimesSync(join(folder, name), past, past);
    await node.sweep();
    expect((await readdir(folder)).sort()).toEqual([file.id, part.id, young].sort());
    for (const name of [file.id, part.id, young]) rmSync(join(folder, name));
    await node.close();
  });

  test("an upload: lengths, order, its end, and its expiry", async () => {
    const node = await openNode(await urlOf(), folder);
    await node.ask({ open: "/eng" });
    const upload = uploadOf();
    await node.ask({ begin: upload });
    const add = (bytes: number, at?: number) =>
      node.ask({
        addPart: partOf(upload.id, bytes),
        most: 600,
        quota: QUOTA,
        ...(at !== undefined && { at }),
      });
    expect((await add(300, 0)).refused).toBeUndefined();
    expect((await add(100, 200)).refused).toBe("length");
    expect((await add(400)).refused).toBe("length");
    expect((await add(300, 300)).refused).toBeUndefined();
    expect((await node.ask({ open: "/eng" })).used).toBe(600);
    const { upload: now, parts } = await node.ask({ upload: upload.id });
    expect([now!.received, parts!.map(({ bytes }) => bytes)]).toEqual([600, [300, 300]]);
    // The parts make room for the file that they become.
    const file = fileOf({ bytes: 600 });
    expect((await node.ask({ add: file, quota: QUOTA, of: upload.id })).parts!.length).toBe(2);
    expect((await node.ask({ open: "/eng" })).used).toBe(600);
    expect((await add(0)).refused).toBe("state");
    expect((await node.ask({ cancel: upload.id })).refused).toBe("state");
    expect((await node.ask({ add: fileOf(), quota: QUOTA, of: upload.id })).refused).toBe("state");
    expect((await node.ask({ upload: upload.id })).upload).toMatchObject({
      state: "completed",
      file: file.id,
    });

    const late = uploadOf();
    await node.ask({ begin: late });
    await node.ask({ addPart: partOf(late.id, 200), most: 600, quota: QUOTA });
    node.skip(HOUR + 1);
    expect((await node.ask({ addPart: partOf(late.id, 1), most: 600, quota: QUOTA })).refused).toBe("state");
    await node.sweep();
    expect((await node.ask({ upload: late.id })).upload!.state).toBe("cancelled");
    expect((await node.ask({ open: "/eng" })).used).toBe(600);
    node.skip(25 * HOUR);
    await node.sweep();
    expect((await node.ask({ upload: late.id })).refused).toBe("none");
    await node.close();
  });
});
