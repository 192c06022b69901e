import { expect, test } from "bun:test";
import type { Check, Checks, Status } from "./suite.ts";
import { excuse } from "./excuses.ts";
import { countIn, groupsOf, worseThrough } from "./verdicts.ts";

const check = (id: string, status: Status): Check => ({ id, status });
const run = (...checks: Check[]): Checks => new Map([["scenario", checks]]);

/** Checks that got worse, in words. */
function worse(direct: Checks, through: Checks): string[] {
  return worseThrough(direct, through).map((one) => `${one.check}: ${one.direct} > ${one.through}`);
}

test("the same, and better, is not worse", () => {
  const direct = run(check("a", "SUCCESS"), check("b", "WARNING"), check("c", "FAILURE"), check("d", "INFO"));
  const better = run(
    check("a", "SUCCESS"),
    check("b", "SUCCESS"),
    check("c", "SKIPPED"),
    check("d", "SUCCESS"),
  );
  expect(worse(direct, direct)).toEqual([]);
  expect(worse(direct, better)).toEqual([]);
});

test("every step down is worse, and so is a check that is missing", () => {
  const steps: Status[] = ["SUCCESS", "WARNING", "SKIPPED", "FAILURE"];
  for (const [index, status] of steps.entries())
    for (const lower of steps.slice(index + 1))
      expect(worse(run(check("a", status)), run(check("a", lower)))).toEqual([`a: ${status} > ${lower}`]);
  expect(worse(run(check("a", "SUCCESS")), new Map())).toEqual(["a: SUCCESS > absent"]);
  expect(worse(run(check("a", "FAILURE")), new Map())).toEqual([]);
});

test("checks of one id are compared in their order", () => {
  const direct = run(check("a", "FAILURE"), check("a", "SUCCESS"));
  expect(worse(direct, run(check("a", "SUCCESS"), check("a", "FAILURE")))).toEqual([
    "a (2): SUCCESS > FAILURE",
  ]);
});

test("a failure that is new counts where everything was well, and nowhere else", () => {
  const through = run(check("a", "SUCCESS"), check("error", "FAILURE"));
  expect(worse(run(check("a", "SUCCESS")), through)).toEqual(["error: absent > FAILURE"]);
  expect(worse(run(check("a", "SUCCESS"), check("b", "FAILURE")), through)).toEqual([]);
});

test("only what was judged is counted, and what does not count stands apart", () => {
  const checks = run(check("a", "SUCCESS"), check("b", "FAILURE"), check("c", "SKIPPED"), check("d", "INFO"));
  expect(countIn(checks, ["scenario", "unknown"])).toEqual({ held: 1, all: 2 });
  const groups = groupsOf([
    { name: "tools-list" },
    { name: "tools-call-sampling" },
    { name: "tasks-lifecycle", unscored: "extension" },
    { name: "json-schema-2020-12", unscored: "pending" },
  ]);
  expect([...groups.values()]).toEqual([
    ["tools-list"],
    ["tools-call-sampling"],
    ["tasks-lifecycle"],
    ["json-schema-2020-12"],
  ]);
});

test("an excuse holds for its cell and its server, and for no other check", () => {
  const one = (scenario: string, name: string) =>
    worseThrough(new Map([[scenario, [check(name, "SUCCESS")]]]), new Map());
  const left = (reference: string, cell: string, scenario: string, name = "any") =>
    excuse(reference, cell, one(scenario, name)).worse.length;
  expect(left("everything-server.ts", "LM", "tools-call-sampling")).toBe(0);
  expect(left("everything-server.ts", "LL", "tools-call-sampling")).toBe(1);
  expect(left("reference.ts", "LM", "tools-call-sampling")).toBe(1);
  expect(left("reference.ts", "ML", "input-required-result-basic-elicitation")).toBe(0);
  expect(left("reference.ts", "ML", "input-required-result-basic-sampling")).toBe(1);
  expect(left("everything-server.ts", "ML", "server-stateless", "sep-2575-server-implements-discover")).toBe(
    1,
  );
});
