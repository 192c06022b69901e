/** The cache of model tables: one search for each name, and a limited number of names. */
import { expect, test } from "bun:test";
import { memoized } from "../../../src/formats/shared/memoized.ts";

function counted<Value>(find: (name: string) => Value) {
  const searched: string[] = [];
  const look = memoized((name) => {
    searched.push(name);
    return find(name);
  });
  return { look, searched };
}

test("searches once for each name, also when it finds nothing", () => {
  const { look, searched } = counted((name) => (name === "known" ? { facts: name } : undefined));
  const first = look("known");
  expect(look("known")).toBe(first);
  expect([look("unknown"), look("unknown")]).toEqual([undefined, undefined]);
  expect(searched).toEqual(["known", "unknown"]);
});

test("forgets names when there are more than a thousand", () => {
  const { look, searched } = counted((name) => name);
  for (let at = 0; at <= 1000; at++) look(`model-${at}`);
  look("model-0");
  expect(searched.filter((name) => name === "model-0")).toHaveLength(2);
});
