/** The texts of names, which the keeper remembers. */
import { expect, test } from "bun:test";
import { RollUps } from "../../../src/keeper/record/roll-ups.ts";
import {
  accountsOf,
  callerOf,
  type NameKind,
  type Names,
  targetOf,
} from "../../../src/keeper/store/names.ts";
import { SUMS } from "../../../src/keeper/store/schema.ts";
import type { Sql, SqlValue } from "../../../src/keeper/store/sql.ts";
import { attemptRecord, callRecord } from "../../helpers/telemetry.ts";

test("callers of one key differ by path and tags", () => {
  const tags = ["a"];
  const callers = [
    { key: "k", path: "/a", tags },
    { key: "k", path: "/b", tags },
    { key: "k", path: "/b", tags: ["b"] },
    { key: "k", path: "/b" },
    { path: "/b" },
    {},
    { key: "k", path: "/a", tags },
  ];
  for (let round = 0; round < 2; round++)
    expect(callers.map(callerOf)).toEqual([
      '["k","/a",["a"]]',
      '["k","/b",["a"]]',
      '["k","/b",["b"]]',
      '["k","/b",[]]',
      '["","/b",[]]',
      '["","/",[]]',
      '["k","/a",["a"]]',
    ]);
});

test("targets of one deployment differ by model and provider, also beyond those that are remembered", () => {
  const many = Array.from({ length: 3_000 }, (_, n) => ({ provider: "p", deployment: "d", model: `m${n}` }));
  const others = [
    { provider: "q", deployment: "d", model: "m1" },
    { provider: "p", deployment: "e", model: "m1" },
    { provider: "p", deployment: "d", model: "x".repeat(1_000) },
  ];
  for (let round = 0; round < 2; round++)
    for (const target of [...others, ...many, ...others])
      expect(targetOf(target)).toBe(JSON.stringify(Object.values(target)));
});

test("a list of accounts that can be changed has its text at each moment", () => {
  const accounts = ["a"];
  expect(accountsOf({ accounts })).toBe('["a"]');
  accounts.push("b");
  expect(accountsOf({ accounts })).toBe('["a","b"]');
  const frozen = Object.freeze(["a"]);
  expect([accountsOf({ accounts: frozen }), accountsOf({ accounts: frozen })]).toEqual(['["a"]', '["a"]']);
});

test("sums of calls that alternate between callers, targets and hours are kept apart", async () => {
  const names = { id: (_: NameKind, text: string) => text.length } as unknown as Names;
  const sums = new RollUps(names);
  const hour = 3_600_000;
  for (let n = 0; n < 12; n++)
    sums.add(
      callRecord({
        ...{ id: "x", startedAt: hour * (n % 2), key: n % 3 === 0 ? "long-key" : "key" },
        attempts: [attemptRecord({ model: n < 6 ? "a" : "longer" })],
      }),
    );
  const tables: Record<string, readonly (readonly SqlValue[])[]> = {};
  const insert: Sql["insert"] = async (table, _, rows) => void (tables[table] = rows);
  await sums.write({ insert } as Sql);
  const calls = 3 + SUMS.indexOf("calls");
  expect(tables["use_hour"]!.map((row) => row[calls])).toEqual([2, 2, 1, 1, 2, 2, 1, 1]);
  expect(tables["use_day"]!.reduce((total, row) => total + Number(row[calls]), 0)).toBe(12);
});
