import { expect, test } from "bun:test";
import { budgetAccount, rateAccount, readAccount } from "../../src/ledger/record.ts";

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
