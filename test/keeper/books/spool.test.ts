/** The spool of a node: what it keeps while PostgreSQL is away. */
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Spool } from "../../../src/keeper/store/postgres/spool.ts";
import { IN_MEMORY } from "../../../src/keeper/settings.ts";
import { batch, call, commit } from "./make.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "weir-spool-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the spool", () => {
  test("keeps commits in order, and the name of its node, over a restart", () => {
    const path = join(folder, "spool.db");
    const before = new Spool(path);
    const commits = [1, 2, 3].map((seq) =>
      commit({
        once: { life: "keeper", seq },
        batches: [batch(seq, [call()])],
        returns: [{ account: "b:a@0", amount: seq }],
      }),
    );
    for (const each of commits) before.add(each);
    before.close();
    const after = new Spool(path);
    expect(after.node).toBe(before.node);
    expect(after.waiting).toBe(3);
    // The oldest one may have arrived already, so it is sent again as it was; the others were never sent.
    const first = after.first()!;
    expect(first.commit).toEqual(commits[0]!);
    expect(after.first()).toEqual(first);
    after.remove(first.number);
    const others = after.first()!;
    expect(others.commit).toEqual(
      commit({
        once: { life: "keeper", seq: 3 },
        batches: commits.slice(1).flatMap(({ batches }) => batches),
        returns: [2, 3].map((amount) => ({ account: "b:a@0", amount })),
      }),
    );
    after.add(commits[0]!);
    expect(after.first()).toEqual(others);
    after.remove(others.number);
    expect(after.waiting).toBe(1);
    after.remove(after.first()!.number);
    expect(after.first()).toBeUndefined();
    after.close();
  });

  test("a commit of a newer version is named and set aside, not misread, and the others are written", () => {
    const path = join(folder, "newer.db");
    const before = new Spool(path);
    for (const seq of [1, 2])
      before.add(commit({ once: { life: "keeper", seq }, batches: [batch(seq, [call()])] }));
    before.close();
    const file = new Database(path);
    file.run(`UPDATE commits SET text = json_set(text, '$.format', 2) WHERE number = 1`);
    file.close();
    const spool = new Spool(path);
    const first = spool.first()!;
    expect(first.fault).toBe("written by a newer version of weir (format 2; this version reads 1)");
    spool.refuse(first.number, first.fault!);
    expect(spool.first()).toMatchObject({ number: 2, commit: { once: { seq: 2 } } });
    expect(spool.first()!.fault).toBeUndefined();
    expect(spool.waiting).toBe(1);
    spool.close();
  });

  test("a full spool keeps the money of a commit and counts its calls as dropped", () => {
    const spool = new Spool(IN_MEMORY, 1);
    const full = commit({
      batches: [batch(1, [call(), call()])],
      returns: [{ account: "b:a@0", amount: 5 }],
    });
    spool.add(full);
    const { batches, returns } = spool.first()!.commit;
    expect(batches[0]).toMatchObject({ seq: 1, calls: [], spends: full.batches[0]!.spends });
    expect(returns).toEqual(full.returns);
    expect(spool.dropped).toBe(2);
    spool.close();
  });

  test("a commit that the store never takes is set aside, and those behind it go on", () => {
    const spool = new Spool(IN_MEMORY);
    spool.add(commit());
    spool.add(commit({ batches: [batch(1, [])] }));
    spool.refuse(spool.first()!.number, "PostgreSQL failed: no");
    expect(spool.waiting).toBe(1);
    expect(spool.first()!.commit.batches).toHaveLength(1);
    spool.close();
  });
});
