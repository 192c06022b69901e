/** No refusal of the admin API shows a regular expression: each pattern of a schema says in words what it expects. */
import { expect, test } from "bun:test";
import { listOperations } from "../../src/admin/operations/index.ts";
import { COLUMNS } from "../helpers/features.ts";
import { readQuery } from "../../src/admin/read-request.ts";
import { FILTER, request } from "../../src/operator/shapes.ts";

function* patternsIn(value: unknown, path: string): Generator<[path: string, words: unknown]> {
  if (typeof value !== "object" || value === null) return;
  const { pattern, type } = value as Record<string, unknown>;
  if (type === "string" && typeof pattern === "string")
    yield [path, (value as Record<string, unknown>)["x-expects"]];
  for (const [name, member] of Object.entries(value)) yield* patternsIn(member, `${path}.${name}`);
}

test("each pattern of a request has words", () => {
  const found = listOperations("0", COLUMNS).flatMap(({ id, query, body }) => [
    ...patternsIn({ query, body }, id),
  ]);
  expect(found.length).toBeGreaterThan(8);
  expect(found.filter(([, words]) => typeof words !== "string")).toEqual([]);
});

test("a refusal says them", () => {
  const schema = request({ path: FILTER.path });
  expect(() => readQuery(schema, new URLSearchParams({ path: "/bad path!" }))).toThrow(
    "?path: expected a path such as /eng/search, with parts of at most 64 letters, digits and . _ @ -.",
  );
});
