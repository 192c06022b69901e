/** The section of the config, and the table of capture.db, which older gateways have written. */
import { expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../config/load.ts";
import { CAPTURE_MIGRATIONS } from "../file.ts";
import { captureSection } from "../section.ts";

const SECTIONS = [captureSection];

function load(yaml: string) {
  const cwd = mkdtempSync(join(tmpdir(), "weir-capture-config-"));
  writeFileSync(join(cwd, "weir.yaml"), yaml);
  return loadConfig({ flags: {}, env: {}, cwd, sections: SECTIONS }).config;
}

test("capture is off by default, and a mask that can take exponential time is refused", () => {
  expect(captureSection.of(load(""))).toMatchObject({ keys: [], header: false, share: 0 });
  expect(captureSection.of(load("capture: {share: 0.5}")).share).toBe(0.5);
  expect(() => load("capture:\n  mask: ['(a+)+$']")).toThrow(
    'weir.yaml:2: the pattern "(a+)+$" is refused: a repetition inside a repetition can take exponential time (at capture.mask[0]).',
  );
});

test("the table is the one of earlier versions", () => {
  expect(CAPTURE_MIGRATIONS.map((text) => Bun.hash(text).toString(16))).toEqual(["b679f5f4d8df1808"]);
});
