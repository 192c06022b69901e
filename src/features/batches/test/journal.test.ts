/** The journal of a batch: what counts after a crash, a runner without a lease, garbage and a full disk. */
import { expect, onTestFinished, test } from "bun:test";
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { smallDisk } from "../../../../test/helpers/small-disk.ts";
import { Journal } from "../journal/journal.ts";
import { encodeRecord } from "../journal/record.ts";
import { recover } from "../journal/recover.ts";
import type { ResultsQuery } from "../journal/results.ts";

const NONE = new Uint8Array(0);

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "weir-journal-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function opened(path: string, fence: number): Promise<Journal> {
  const journal = await Journal.open(path, fence, { gatherMs: 1 });
  onTestFinished(() => journal.close().catch(() => {}));
  return journal;
}

const bytesOf = (text: string) => Buffer.from(text);

async function resultsOf(journal: Journal, of: ResultsQuery["of"], order: ResultsQuery["order"]) {
  const lines: string[] = [];
  for await (const { bytes } of journal.results({ of, order })) lines.push(Buffer.from(bytes).toString());
  return lines;
}

test("the next runner finds what ended, what had begun and what it cost", async () => {
  const path = folder();
  const first = await opened(path, 1);
  await Promise.all([1, 2, 3, 4].map((n) => first.start(n, 1, `call-${n}`)));
  await first.moved("running", 5000);
  await Promise.all([
    first.end(3, 1, "out", bytesOf('{"n":3}'), 30),
    first.end(1, 1, "err", bytesOf('{"n":1}'), 10),
    first.end(4, 1, "again", NONE, 4),
  ]);
  await first.end(7, 0, "err", bytesOf('{"n":7}'), 0);
  // No close: the process is gone.
  const second = await opened(path, 2);
  expect([1, 2, 3, 4, 5, 7, 9999].map((n) => second.lines.stateOf(n))).toEqual([
    "ended",
    "begun",
    "ended",
    "fresh",
    "fresh",
    "ended",
    "fresh",
  ]);
  expect([1, 2, 4, 5].map((n) => second.lines.attemptsOf(n))).toEqual([1, 1, 1, 0]);
  expect([...second.lines.begun()]).toEqual([[2, "call-2"]]);
  expect([second.lines.sums.cost, second.lines.ended]).toEqual([44, 3]);
  expect(second.state).toEqual({ state: "running", at: 5000 });
  await second.start(4, 2, "call-4b");
  await second.end(4, 2, "out", bytesOf('{"n":4}'), 40);
  await second.end(2, 1, "out", bytesOf('{"n":2}'), 20);
  for (const journal of [second, await opened(path, 9)]) {
    expect(await resultsOf(journal, "out", "completion")).toEqual(['{"n":3}\n', '{"n":4}\n', '{"n":2}\n']);
    expect(await resultsOf(journal, "err", "input")).toEqual(['{"n":1}\n', '{"n":7}\n']);
    expect(await resultsOf(journal, "all", "input")).toEqual([1, 2, 3, 4, 7].map((n) => `{"n":${n}}\n`));
    expect(journal.lines.sums.cost).toBe(104);
  }
});

test("a line has one end, and records of one line do not overtake each other", async () => {
  const journal = await opened(folder(), 1);
  const starting = journal.start(1, 1, "a");
  await expect(journal.end(1, 1, "out", bytesOf("{}"), 0)).rejects.toThrow("Another record of line 1");
  await starting;
  await expect(journal.start(1, 2, "b")).rejects.toThrow("Line 1 has begun");
  const ending = journal.end(1, 1, "out", bytesOf("{}"), 1);
  await expect(journal.end(1, 1, "err", bytesOf("{}"), 1)).rejects.toThrow("Another record");
  await ending;
  await expect(journal.end(1, 1, "err", bytesOf("{}"), 1)).rejects.toThrow("Line 1 has ended");
  await expect(journal.end(2, 0, "err", bytesOf("a\nb"), 1)).rejects.toThrow("line break");
  await expect(journal.end(2, 0, "err", bytesOf("a"), 0.5)).rejects.toThrow("whole number");
  expect(await resultsOf(journal, "all", "input")).toEqual(["{}\n"]);
  await journal.close();
  await expect(journal.start(3, 1, "c")).rejects.toThrow("closed");
});

test("a promise is settled when the record is in the file, and close writes what waits", async () => {
  const path = folder();
  const journal = await Journal.open(path, 1, { gatherMs: 60_000 });
  const size = () => statSync(join(path, "journal-1")).size;
  const before = size();
  // A full group waits for no timer.
  await Promise.all(Array.from({ length: 64 }, (_, at) => journal.start(at + 1, 1, "call")));
  expect(size()).toBeGreaterThan(before);
  const last = journal.start(65, 1, "call");
  const filled = size();
  await journal.close();
  await last;
  expect(size()).toBeGreaterThan(filled);
});

test("what a runner without a lease appends counts no more, for all runners after it", async () => {
  const path = folder();
  const stale = await opened(path, 1);
  await stale.start(1, 1, "a");
  const second = await opened(path, 2);
  await stale.end(1, 1, "out", bytesOf('"stale"'), 100);
  await stale.start(2, 1, "stale");
  await second.end(1, 1, "err", bytesOf('"lost"'), 7);
  for (const fence of [3, 4]) {
    const next = await opened(path, fence);
    expect(next.lines.stateOf(2)).toBe("fresh");
    expect(next.lines.sums.cost).toBe(7);
    expect(await resultsOf(next, "all", "input")).toEqual(['"lost"\n']);
    await stale.start(fence, 1, "stale");
  }
});

test("a journal without its first record, and one that its successor did not know, count for nothing", async () => {
  const path = folder();
  const first = await opened(path, 1);
  await first.start(1, 1, "a");
  // Runner 2 was stopped before its first record was whole.
  const took = encodeRecord({ t: "took", journals: { "1": 0 } });
  writeFileSync(join(path, "journal-2"), took.subarray(0, took.length - 1));
  const third = await opened(path, 3);
  expect(third.lines.stateOf(1)).toBe("begun");
  // It goes on after runner 3 has begun.
  writeFileSync(join(path, "journal-2"), took);
  appendFileSync(join(path, "journal-2"), encodeRecord({ t: "start", n: 5, a: 1, call: "stale" }));
  const fourth = await opened(path, 4);
  expect([1, 5].map((n) => fourth.lines.stateOf(n))).toEqual(["begun", "fresh"]);
  expect(readFileSync(join(path, "journal-4"), "latin1")).not.toContain('"2":');
  await expect(Journal.open(path, 4)).rejects.toThrow("4 is stale");
  await expect(Journal.open(path, 2)).rejects.toThrow("2 is stale");
});

test("a journal cut at any byte, or with a wrong byte, counts up to its last whole record", async () => {
  const path = folder();
  const journal = await opened(path, 1);
  const ends = [statSync(join(path, "journal-1")).size];
  for (const n of [1, 2, 3]) {
    await journal.end(n, 0, "out", bytesOf(`"${n}"`), n);
    ends.push(statSync(join(path, "journal-1")).size);
  }
  const whole = readFileSync(join(path, "journal-1"));
  const file = join(path, "journal-1");
  for (let length = ends[0]!; length <= whole.length; length++) {
    writeFileSync(file, whole.subarray(0, length));
    const { lines, journals } = await recover(path);
    expect(lines.ended).toBe(ends.filter((end) => end <= length).length - 1);
    expect(journals["1"]).toBe(ends.findLast((end) => end <= length)!);
  }
  for (let at = ends[1]!; at < ends[2]!; at++) {
    const wrong = Buffer.from(whole);
    wrong[at]! ^= 0x10;
    writeFileSync(file, wrong);
    expect((await recover(path)).lines.ended).toBe(1);
  }
  writeFileSync(file, whole);
  const second = await opened(path, 2);
  expect(second.lines.sums.cost).toBe(6);
  // The next runner relied on these records, so their loss is no crash but damage.
  truncateSync(file, whole.length - 1);
  await expect(recover(path)).rejects.toThrow("is damaged");
  writeFileSync(file, whole);
  truncateSync(join(path, "out-1.jsonl"), 9);
  await expect(resultsOf(second, "out", "completion")).rejects.toThrow("result of line 3");
});

test("results are the same in runs of any length, and a record may be longer than a read", async () => {
  const path = folder();
  const journal = await opened(path, 1);
  const sizes = Array.from({ length: 300 }, (_, n) => (n * 7919) % 5000).with(7, 600_000);
  await journal.start(301, 1, "c".repeat(3_000_000));
  await Promise.all(
    // In another order than that of the input: 101 and 300 have no common factor.
    sizes.map((_, turn) => {
      const at = (turn * 101) % sizes.length;
      return journal.end(at + 1, 0, at % 3 === 0 ? "err" : "out", bytesOf("x".repeat(sizes[at]!)), 1);
    }),
  );
  const next = await opened(path, 2);
  expect([next.lines.stateOf(301), next.lines.ended]).toEqual(["begun", 300]);
  expect((await resultsOf(next, "all", "input")).map((text) => text.length - 1)).toEqual(sizes);
  const ended = sizes.map((_, turn) => (turn * 101) % sizes.length).filter((at) => at % 3 !== 0);
  const lengths = (await resultsOf(next, "out", "completion")).map((text) => text.length - 1);
  expect(lengths).toEqual(ended.map((at) => sizes[at]!));
});

test("a full disk refuses records, and the journal goes on when there is room again", async () => {
  const disk = smallDisk(256);
  if (!disk) return;
  onTestFinished(() => disk.end());
  const journal = await opened(disk.path, 1);
  await Promise.all([1, 2, 3].map((n) => journal.start(n, 1, "call")));
  await journal.end(1, 1, "out", bytesOf('"one"'), 1);
  disk.fill();
  const large = bytesOf(`"${"x".repeat(100_000)}"`);
  const refused = await Promise.allSettled([
    journal.end(2, 1, "out", large, 2),
    journal.end(3, 1, "err", bytesOf('"small"'), 3),
  ]);
  expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  // Records that fill the rest of the last page one after the other, until the journal itself finds no room.
  const results = await Promise.allSettled(
    Array.from({ length: 300 }, (_, at) => journal.start(at + 100, 1, "c".repeat(50))),
  );
  expect(results.at(-1)!.status).toBe("rejected");
  await expect(Journal.open(disk.path, 2)).rejects.toThrow("ENOSPC");
  expect(readdirSync(disk.path).filter((name) => name.includes("-2"))).toEqual([]);
  // What was refused is not in the files, also for a runner that comes after a crash.
  const size = (name: string) => statSync(join(disk.path, name)).size;
  expect([size("out-1.jsonl"), size("err-1.jsonl")]).toEqual([6, 0]);
  expect((await recover(disk.path)).journals["1"]).toBe(size("journal-1"));
  disk.clear();
  expect(journal.lines.stateOf(2)).toBe("begun");
  await journal.end(2, 1, "out", bytesOf('"two"'), 2);
  await journal.end(3, 1, "err", bytesOf('"three"'), 3);
  const next = await opened(disk.path, 2);
  expect(await resultsOf(next, "all", "input")).toEqual(['"one"\n', '"two"\n', '"three"\n']);
  expect(next.lines.sums.cost).toBe(6);
});

test("a part of budgets that an attempt held is known until it ends, or another one begins", async () => {
  const path = folder();
  const first = await opened(path, 1);
  await Promise.all([1, 2, 3, 4].map((n) => first.start(n, 1, `native-${n}`)));
  await Promise.all([1, 2, 3].map((n) => first.held(n, 1)));
  await first.end(2, 1, "again", NONE, 0);
  await first.end(3, 1, "again", NONE, 0);
  await first.start(3, 2, "native-3b");
  const held = ({ lines }: Journal) => [1, 2, 3, 4].map((n) => lines.isHeld(n));
  expect(held(first)).toEqual([true, false, false, false]);
  const second = await opened(path, 2);
  expect(held(second)).toEqual([true, false, false, false]);
  await second.end(1, 1, "out", bytesOf("{}"), 1);
  expect(held(second)).toEqual([false, false, false, false]);
});
