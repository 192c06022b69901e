import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CellTable, readCells, TABLE_BYTES } from "../../src/ledger/cell-table.ts";
import { budgetAccount, rateAccount, readAccount } from "../../src/ledger/record.ts";

test("a table of cells is read by account, and released cells are not", () => {
  const bytes = new Uint8Array(TABLE_BYTES);
  const table = new CellTable(bytes);
  const first = table.claim("b:eng@0");
  const second = table.claim("r:eng:rpm");
  first.numbers[first.at] = -1.5;
  second.numbers[second.at] = 7;
  expect([...readCells(bytes)]).toEqual([
    ["b:eng@0", -1.5],
    ["r:eng:rpm", 7],
  ]);
  table.release(first);
  expect([...readCells(bytes)]).toEqual([["r:eng:rpm", 7]]);
  const third = table.claim("b:ops@0");
  expect(third.numbers[third.at]).toBe(0);
});

test("an account without room in the table has a cell that the keeper does not see", () => {
  const bytes = new Uint8Array(512);
  const table = new CellTable(bytes);
  for (const name of ["b:a@0", "b:b@0"]) table.claim(name);
  const outside = table.claim("b:c@0");
  const long = new CellTable(new Uint8Array(512)).claim(`b:${"x".repeat(300)}@0`);
  for (const { numbers, at } of [outside, long]) numbers[at] = 3;
  expect([...readCells(bytes).keys()].sort()).toEqual(["b:a@0", "b:b@0"]);
});

test("what a process wrote into a mapped table is read after its kill", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weir-cells-"));
  const file = join(folder, "cells");
  await Bun.write(file, new Uint8Array(TABLE_BYTES));
  const source = `
    const { CellTable } = await import(${JSON.stringify(join(import.meta.dir, "../../src/ledger/cell-table.ts"))});
    const cell = new CellTable(Bun.mmap(${JSON.stringify(file)}, { shared: true })).claim("b:eng@0");
    cell.numbers[cell.at] = 42;
    console.log("written");
    setInterval(() => {}, 1000);`;
  const child = Bun.spawn([process.execPath, "-e", source], { stdout: "pipe" });
  await child.stdout.getReader().read();
  child.kill("SIGKILL");
  await child.exited;
  expect(readCells(await Bun.file(file).bytes()).get("b:eng@0")).toBe(42);
  await rm(folder, { recursive: true });
});

test("the id of an account names its budget, window and session, or its limit and unit", () => {
  expect(readAccount(budgetAccount("a@b#c", 86_400_000))).toEqual({
    kind: "budget",
    id: "a@b#c",
    startsAt: 86_400_000,
  });
  expect(readAccount(budgetAccount("s", 0, "00ff"))).toEqual({
    kind: "budget",
    id: "s",
    startsAt: 0,
    session: "00ff",
  });
  expect(readAccount(rateAccount("x:y", "tpm"))).toEqual({ kind: "rate", id: "x:y", unit: "tpm" });
  expect(readAccount("b:eng")).toBeUndefined();
});
