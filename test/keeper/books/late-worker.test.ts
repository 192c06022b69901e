/**
 * A worker that dies while a new keeper looks for the workers of before: its messages may still be on the way when the keeper reads
 * what it left. What it has spent counts once, whichever comes first.
 */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import type { BooksUp } from "../../../src/ledger/messages.ts";
import { RECORD_FORMAT } from "../../../src/ledger/record.ts";
import { Entries } from "../../../src/ledger/worker/entries.ts";
import { RecordWriter } from "../../../src/ledger/worker/record-writer.ts";
import { attemptRecord, callRecord } from "../../helpers/telemetry.ts";
import { budgetOf, declaredOf, openBooks, TestClock, TestWorker } from "./simulation.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "weir-late-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ONE = "b:one@0";
const COST = 600;

const call = callRecord({
  id: "req_late",
  attempts: [attemptRecord({ charge: { cost: COST, state: "metered" }, held: 1_000, accounts: [ONE] })],
});

/** What arrives from the worker before and after the keeper finds that it is dead. */
const ORDERS: Readonly<Record<string, { before: number; after: number; endsFirst?: boolean }>> = {
  "nothing arrives": { before: 0, after: 0 },
  "all arrives later": { before: 0, after: 2 },
  "its records arrive later": { before: 1, after: 1 },
  "its records never arrive": { before: 1, after: 0 },
  "all arrived before": { before: 2, after: 0 },
  "its connection ends first, without its records": { before: 1, after: 0, endsFirst: true },
  "its connection ends first": { before: 2, after: 0, endsFirst: true },
};

for (const [name, { before, after, endsFirst = false }] of Object.entries(ORDERS))
  test(`${name}: what it has spent counts once, and the rest of its share is free`, async () => {
    const clock = new TestClock();
    const cells = mkdtempSync(join(folder, "cells-"));
    const path = join(cells, "books.db");
    const dead = new Set<string | undefined>();
    const isAlive = (file: string | undefined) => !dead.has(file);
    const open = () => openBooks({ clock, cells, isAlive, store: sqliteStore(path, clock.wall) });
    const first = await open();
    const declared = declaredOf([budgetOf()]);
    const worker = new TestWorker(first.books, 1, declared, cells);
    await clock.advance(1);
    const holding = worker.hold([{ account: ONE, need: 1_000 }]);
    await clock.advance(200);
    expect(await holding).toBeUndefined();
    first.kill();
    worker.disconnect();
    await first.store.close();
    worker.settle(ONE, 1_000, COST);
    const entries = new Entries(1, worker.cells.regions[0]);
    new RecordWriter((words, length) => entries.add(words, length)).record(call);
    const hello: BooksUp = {
      kind: "hello",
      format: RECORD_FORMAT,
      ...{ life: worker.cells.life, worker: 1, seq: 1, cells: worker.cells.file! },
      shares: [{ account: ONE, amount: worker.left(ONE) }],
    };
    const spends = [{ account: ONE, spent: COST, assumed: 0, overrun: 0 }];
    const messages: BooksUp[] = [
      hello,
      { kind: "records", batch: { seq: 1, calls: [call], spends, prices: [] } },
    ];

    const second = await open();
    const other = new TestWorker(second.books, 2, declared, cells);
    const connection = second.books.connect(() => {});
    for (const message of messages.slice(0, before)) connection.receive(message);
    dead.add(worker.cells.file);
    if (endsFirst) connection.ended();
    await clock.advance(100);
    for (const message of messages.slice(before, before + after)) connection.receive(message);
    if (!endsFirst) connection.ended();
    await clock.advance(10_000);

    const account = second.books.accounts!.budgets.get(ONE)!;
    expect(account.row).toMatchObject({ spent: COST, assumed: 0, overrun: 0 });
    // All that is left is there for the other worker.
    const rest = other.hold([{ account: ONE, need: 10_000 - COST }]);
    await clock.advance(1_000);
    expect(await rest).toBeUndefined();
    other.settle(ONE, 10_000 - COST, 0);
    await clock.advance(60_000);
    expect(await second.store.accounts(clock.wall())).toMatchObject([
      { spent: COST, assumed: 0, granted: 0, own: 0 },
    ]);
    await second.books.close();
  });
