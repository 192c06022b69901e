/** No outline has a text, a name or an argument of a client. `canaries/main.ts` plants one at every place. */
import { expect, test } from "bun:test";
import { plantAll } from "./canaries/plant-all.ts";
import { Letters, makeCanary, Search, SHAPES, VALUES } from "./canaries/canary.ts";

test("a search finds each shape of a canary, in other spellings too", () => {
  for (const shape of [...Object.keys(SHAPES), ...Object.keys(VALUES)]) {
    const search = new Search();
    const canary = makeCanary(shape, new Letters(7));
    search.add(canary);
    const [needle = ""] = canary.needles;
    expect([shape, search.in(`{"a":"${needle}"}`).size]).toEqual([shape, 1]);
    expect([shape, search.in(Buffer.from(`my ${needle} and`).toString("base64")).size]).toEqual([shape, 1]);
    expect([shape, search.in(Buffer.from(needle).toString("hex")).size]).toEqual([shape, 1]);
    expect([shape, search.in(`{"a":"${[...needle].reverse().join("")}"}`).size]).toEqual([shape, 1]);
    expect([shape, search.in('{"v":1,"body":{"messages":[{"role":"user","content":"¤12"}]}}').size]).toEqual([
      shape,
      0,
    ]);
  }
});

test("of thousands of canaries in requests of all formats and kinds, none is in an outline", async () => {
  const { answered, outlined, groups, leaks, astray } = await plantAll({ every: 14 });
  expect(leaks).toEqual([]);
  expect(astray).toEqual([]);
  expect(outlined).toBeGreaterThan(1_000);
  // weir dropped no outline of a call that was answered.
  expect(outlined).toBeGreaterThanOrEqual(answered);
  for (const [name, group] of groups) expect([name, group.outlined > 0]).toEqual([name, true]);
}, 120_000);
