/** A disk without room under what weir writes: calls go on, what is lost is counted, and weir says so when there is room. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunFile } from "../../src/run/run-file.ts";
import { RefusedFile } from "../../src/keeper/record/refused.ts";
import { LogBuffer } from "../../src/server/log.ts";
import { commit } from "../keeper/books/make.ts";
import { TARGET } from "../helpers/gateway.ts";
import { smallDisk } from "../helpers/small-disk.ts";
import { ask, serve, until } from "../helpers/serving.ts";

setDefaultTimeout(120_000);

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const disk = (size?: number) => {
  const found = smallDisk(size);
  if (found) ends.push(() => found.end());
  return found;
};

for (const workers of [1, 2])
  test(`with ${workers} worker(s), a log on a full device ends no call and no process`, async () => {
    const full = openSync("/dev/full", "w");
    const weir = await serve({ config: "", workers, binary: TARGET === "binary", stdout: full });
    ends.push(() => weir.end());
    const processes = weir.workers();
    for (let count = 0; count < 30; count++) expect((await ask(weir.url, "mock/chat")).status).toBe(200);
    const isReported = () => weir.log.some((line) => line.includes("the log can no longer be written"));
    expect(await until(isReported)).toBe(true);
    expect(weir.workers()).toEqual(processes);
    weir.signal("SIGTERM");
    expect(await weir.exited).toBe(0);
    closeSync(full);
  });

test("a command whose output finds no room says so and fails", () => {
  const full = openSync("/dev/full", "w");
  const main = join(import.meta.dir, "../../src/main.ts");
  const ran = Bun.spawnSync([process.execPath, main, "config", "schema"], { stdout: full, stderr: "pipe" });
  expect([ran.exitCode, ran.stderr.toString()]).toEqual([
    1,
    expect.stringContaining("weir: the output cannot be written"),
  ]);
  closeSync(full);
});

test("a log file gets all lines that found room in the buffer, in order, when there is room again", async () => {
  const small = disk();
  if (!small) return;
  const path = join(small.path, "log");
  const log = openSync(path, "a");
  const weir = await serve({ config: "", workers: 1, binary: TARGET === "binary", stdout: log });
  ends.push(() => weir.end());
  small.fill();
  const CALLS = 40;
  for (let count = 0; count < CALLS; count++) expect((await ask(weir.url, "mock/chat")).status).toBe(200);
  expect(await until(() => weir.log.some((line) => line.includes("can no longer be written")))).toBe(true);
  small.clear();
  const lines = () => readFileSync(path, "utf8").split("\n");
  const isLogged = () => lines().filter((line) => line.includes('"outcome":"complete"')).length >= CALLS;
  expect(await until(isLogged, 20_000)).toBe(true);
  closeSync(log);
});

describe("a buffer", () => {
  /** A file whose room the test chooses. */
  function bufferOf() {
    const disk = { text: "", room: 0 };
    const buffer = new LogBuffer({
      hide: (text) => text,
      writeDropped: (count) => `${count} dropped`,
      async write(text) {
        const fits = text.slice(0, disk.room);
        disk.text += fits;
        disk.room -= fits.length;
        return text.slice(fits.length);
      },
    });
    return { disk, buffer };
  }

  test("keeps what found no room and counts what exceeds its size", async () => {
    const { disk, buffer } = bufferOf();
    for (let line = 0; line < 30; line++) buffer.add(`${line} ${"x".repeat(99_990)}`);
    await buffer.flush();
    expect(disk.text).toBe("");
    disk.room = Infinity;
    expect(await until(() => disk.text.includes("dropped"), 10_000)).toBe(true);
    const kept = disk.text.split("\n").filter((line) => line.endsWith("x"));
    const [, dropped] = /(\d+) dropped/.exec(disk.text)!;
    expect(kept.map((line) => line.split(" ")[0])).toEqual(kept.map((_, at) => String(at)));
    expect(kept.length + Number(dropped)).toBe(30);
    buffer.add("next");
    await buffer.flush();
    expect(disk.text).toEndWith("next\n");
  });
});

test("the file of refused records has whole lines only", () => {
  const small = disk();
  if (!small) return;
  const path = join(small.path, "refused.jsonl");
  const file = new RefusedFile(path);
  file.add(commit(), new Error("no"), false, 1);
  small.fill();
  const large = new Error("y".repeat(20_000));
  expect(file.add(commit(), large, false, 2)).toContain("cannot be written");
  small.clear();
  file.add(commit(), new Error("no"), false, 3);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { at: number }).at)).toEqual([1, 3]);
});

test("the run file is written when there is room, and both is said", async () => {
  const small = disk();
  if (!small) return;
  mkdirSync(join(small.path, "weir"), { mode: 0o700 });
  small.fill();
  const said: string[] = [];
  const file = RunFile.write(
    1,
    { XDG_RUNTIME_DIR: small.path },
    { report: (sentence) => said.push(sentence) },
  );
  ends.push(() => file?.remove());
  expect(said).toEqual([expect.stringContaining("do not find this gateway")]);
  small.clear();
  expect(await until(() => said.length === 2, 10_000)).toBe(true);
  expect(said[1]).toContain("other commands find this gateway");
});
