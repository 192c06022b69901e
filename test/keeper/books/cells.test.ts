/** Cells: what a killed process wrote last can be read. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  cellFiles,
  cellsFolder,
  createCells,
  emptyCells,
  isForeign,
  readCells,
} from "../../../src/keeper/books/cells.ts";
import { openRegion, REGION_HEADER, setUsed } from "../../../src/ledger/cells.ts";
import { RECORD_FORMAT } from "../../../src/ledger/record.ts";
import { readEntries } from "../../../src/ledger/packed.ts";
import { Entries } from "../../../src/ledger/worker/entries.ts";
import { RecordWriter } from "../../../src/ledger/worker/record-writer.ts";
import { callRecord } from "../../helpers/telemetry.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "weir-cells-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the cells of a process that was killed have the values and batches that it wrote last", async () => {
  const script = join(folder, "writer.ts");
  await Bun.write(
    script,
    `import { createCells } from ${JSON.stringify(join(import.meta.dir, "../../../src/keeper/books/cells.ts"))};
     import { Entries } from ${JSON.stringify(join(import.meta.dir, "../../../src/ledger/worker/entries.ts"))};
     import { RecordWriter } from ${JSON.stringify(join(import.meta.dir, "../../../src/ledger/worker/record-writer.ts"))};
     import { callRecord } from ${JSON.stringify(join(import.meta.dir, "../../helpers/telemetry.ts"))};
     const cells = createCells(${JSON.stringify(folder)});
     const cell = cells.reserve("b:one@0")!;
     for (let n = 1; n <= 50_000; n++) cells.values[cell] = n;
     cells.values[cells.reserve("b:two@0")!] = 7;
     for (let seq = 1; seq <= 2; seq++) {
       const entries = new Entries(seq, cells.regions[seq % 2]);
       const writer = new RecordWriter((words, length) => entries.add(words, length));
       writer.json({ price: { ref: "rule-" + seq } });
       for (let n = 0; n < 100; n++) writer.record(callRecord({ id: "req_é" + n, model: "model-" + (n % 3) }));
     }
     process.kill(process.pid, "SIGKILL");`,
  );
  const child = Bun.spawn([process.execPath, script], { stdout: "inherit", stderr: "inherit" });
  await child.exited;
  const [file] = cellFiles(folder);
  const left = readCells(file!)!;
  expect(["b:one@0", "b:two@0", "b:three@0"].map((account) => left.leftOf(account))).toEqual([
    50_000,
    7,
    undefined,
  ]);
  const batches = left.batches();
  expect(batches.map(({ seq, calls, prices }) => [seq, calls.length, prices])).toMatchObject([
    [1, 100, [{ ref: "rule-1" }]],
    [2, 100, [{ ref: "rule-2" }]],
  ]);
  expect(batches[1]!.calls[99]).toEqual(callRecord({ id: "req_é99", model: "model-0" }));
  // The next keeper finds what is left taken over, and the batches still there.
  emptyCells(file);
  const again = readCells(file!)!;
  expect([again.leftOf("b:one@0"), again.batches().length]).toEqual([0, 2]);
  rmSync(file!);
});

test("a batch is full before its region is, and entries that it has no room for are kept", () => {
  const entries = new Entries(1, Buffer.from(new ArrayBuffer(4096)));
  const writer = new RecordWriter((words, length) => entries.add(words, length));
  const ids = Array.from({ length: 40 }, (_, n) => `req_${n}`);
  const full = ids.filter((id) => {
    writer.record(callRecord({ id }));
    return entries.isFull;
  });
  // Most records are in the region when the batch is full.
  expect([full.length > 10, full.length < 35]).toEqual([true, true]);
  expect(readEntries(entries.copy()).calls.map(({ id }) => id)).toEqual(ids);
});

test("batches that a worker of the version before has left are read", () => {
  const cells = createCells(folder);
  const bytes = readFileSync(cells.file!);
  bytes.fill(0, 0, 16).write("weir cells 2.1");
  const text = `${JSON.stringify({ price: { ref: "rule" } })},${JSON.stringify({ id: "req_é" })}`;
  const region = bytes.subarray(bytes.length - 64 * 1024);
  openRegion(region, 3);
  setUsed(region, REGION_HEADER + region.write(text, REGION_HEADER));
  writeFileSync(cells.file!, bytes);
  expect(isForeign(cells.file!)).toBe(false);
  expect(readCells(cells.file!)!.batches()).toMatchObject([
    { seq: 3, calls: [{ id: "req_é" }], prices: [{ ref: "rule" }] },
  ]);
  cells.close();
});

test("a released cell is 0 and is used again", () => {
  const cells = createCells(folder);
  const cell = cells.reserve("b:one@0")!;
  cells.values[cell] = 5;
  cells.release(cell);
  expect(readCells(cells.file!)!.leftOf("b:one@0")).toBe(0);
  expect(cells.reserve("b:two@0")).toBe(cell);
  cells.values[cell] = 6;
  expect(readCells(cells.file!)!.leftOf("b:two@0")).toBe(6);
  cells.close();
  expect(cellFiles(folder)).toEqual([]);
});

test("cells of an earlier start of the system do not count", () => {
  const cells = createCells(folder);
  cells.values[cells.reserve("b:one@0")!] = 5;
  const bytes = readFileSync(cells.file!);
  bytes.write("00000000", 16);
  writeFileSync(cells.file!, bytes);
  expect(readCells(cells.file!)).toBeUndefined();
  cells.close();
});

test("cells of another version are not read, and recognized", () => {
  const cells = createCells(folder);
  cells.values[cells.reserve("b:one@0")!] = 7;
  const bytes = readFileSync(cells.file!);
  expect([bytes.toString("latin1", 0, 16).replaceAll("\0", ""), isForeign(cells.file!)]).toEqual([
    `weir cells 2.${RECORD_FORMAT}`,
    false,
  ]);
  writeFileSync(cells.file!, bytes.fill("weir cells 2.99", 0, 15));
  expect([readCells(cells.file!), isForeign(cells.file!)]).toEqual([undefined, true]);
  cells.close();
  expect(isForeign(cells.file!)).toBe(false);
});

test("without a folder that can be written to the cells are in memory", () => {
  expect(cellsFolder("weir.db", ["/proc/none"])).toBeUndefined();
  const cells = createCells(undefined);
  expect(cells.file).toBeUndefined();
  cells.values[cells.reserve("b:one@0")!] = 5;
  expect(readCells(join(folder, "none.cells"))).toBeUndefined();
});
