/** What weir says of models of the config that end. */
import { expect, test } from "bun:test";
import { endOf } from "../../src/admin/model-ends.ts";

const NOW = Date.parse("2026-11-22T12:00:00Z");
const said = (lastDay: string | undefined, more: { places?: string[]; others?: string[] } = {}) =>
  endOf({ id: "acme/m", places: ["aliases.fast"], ...more, ...(lastDay && { lastDay }) }, NOW).ends;

test("a model that ends within 30 days has a sentence with the day, its places and what to use instead", () => {
  expect(said("2026-12-10", { others: ["acme/n", "acme/o"] })).toBe(
    "acme/m (aliases.fast) ends on 2026-12-10, in 18 days. Calls can go on at acme/n, acme/o, which the config names beside it.",
  );
  expect(said("2026-11-23")).toBe(
    "acme/m (aliases.fast) ends on 2026-11-23, in one day. Name another model there.",
  );
  expect(said("2026-10-01")).toContain("was to end on 2026-10-01. Name another model there.");
});

test("a later day, an unknown one, and a model that the config does not name have none", () => {
  expect([said("2026-12-23"), said(undefined), said("2026-12-01", { places: [] })]).toEqual([
    ...[undefined, undefined, undefined],
  ]);
});
