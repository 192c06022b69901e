/** The planted faults are faults of the source as it is: each one's text is there once. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { FAULTS } from "./faults.ts";

const SOURCE = resolve(import.meta.dir, "../../../..");

test("each planted fault changes one place", () => {
  const faults = FAULTS.filter(
    ({ file, from }) => readFileSync(join(SOURCE, file), "utf8").split(from).length !== 2,
  );
  expect(faults.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
  expect(FAULTS.length).toBeGreaterThanOrEqual(60);
  expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
});
