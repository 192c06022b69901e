/** What is remembered of tokens: shared objects of those in use, packed texts of the others, and what a change forgets. */
import { expect, test } from "bun:test";
import type { Principal } from "../../../core/principal.ts";
import { TokenMemory, type Verified } from "../token-memory.ts";

const END = 1_000_000;
const verified = (number: number, more: Partial<Verified> = {}): Verified => ({
  ...{ person: `per_${number}`, name: `"näme" ${number}`, path: `/people/${number}`, via: "jwt/corp" },
  ...{ entry: 1, ids: [`tok_${number}`], until: END, keptUntil: END, ...more },
});

function memory() {
  let made = 0;
  const found = new TokenMemory(({ person, path, until, models, client }) => {
    made++;
    return { id: person, path, until, models, client } as unknown as Principal;
  });
  return { found, made: () => made };
}

test("of many tokens each admits its own person, whether it was packed meanwhile or not", () => {
  const { found } = memory();
  for (let number = 0; number < 20_000; number++)
    found.keep(`digest ${number}`, verified(number, number % 2 ? { client: "app", models: ["a"] } : {}));
  expect(found.size).toBe(20_000);
  for (const number of [0, 1, 7_777, 14_999, 15_000, 19_999]) {
    const principal = found.of(`digest ${number}`, `text ${number}`, 5) as Principal &
      Record<string, unknown>;
    expect([principal.id, principal.path]).toEqual([`per_${number}`, `/people/${number}`]);
    expect([principal["client"], principal["models"]]).toEqual(
      number % 2 ? ["app", ["a"]] : [undefined, undefined],
    );
    expect(found.ofText(`text ${number}`, 5)).toBe(principal);
    expect(found.of(`digest ${number}`, `text ${number}`, 5)).toBe(principal);
  }
});

test("a token that is verified again keeps its object, unless its path or end is another", () => {
  const { found, made } = memory();
  const first = found.keep("digest", verified(1));
  expect(found.keep("digest", verified(1, { keptUntil: END + 5 }))).toBe(first);
  expect(made()).toBe(1);
  expect(found.keep("digest", verified(1, { path: "/other" }))).not.toBe(first);
  expect(found.of("digest", "text", END)).toBeUndefined();
});

test("a change of a person, a token or a family is seen by the tokens in use and by packed ones", () => {
  const { found } = memory();
  for (let number = 0; number < 12_000; number++)
    found.keep(`digest ${number}`, verified(number, { ids: [`tok_${number}`, `fam_${number % 100}`] }));
  for (const number of [3, 11_000]) found.of(`digest ${number}`, `text ${number}`, 5);
  found.forget(new Set(["per_3", "tok_11000", "fam_7"]));
  const isKnown = (number: number) => found.of(`digest ${number}`, `other ${number}`, 5) !== undefined;
  expect([3, 11_000, 7, 107, 11_907].map(isKnown)).toEqual([false, false, false, false, false]);
  expect([4, 33, 300, 11_001].map(isKnown)).toEqual([true, true, true, true]);
  expect(found.ofText("text 3", 5)).toBeUndefined();
  found.forget(new Set(Array.from({ length: 200 }, (_, at) => `per_x${at}`)));
  expect([4, 11_999].map(isKnown)).toEqual([true, true]);
  expect(isKnown(500)).toBe(false);
});
