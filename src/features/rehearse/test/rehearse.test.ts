/** rehearse as its README promises it. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../config/load.ts";
import { rehearseSection } from "../section.ts";

test("without options rehearse is off", () => {
  const cwd = mkdtempSync(join(tmpdir(), "weir-rehearse-"));
  try {
    const { config } = loadConfig({ env: {}, cwd, sections: [rehearseSection] });
    expect(rehearseSection.of(config).enabled).toBe(false);
  } finally {
    rmSync(cwd, { recursive: true });
  }
});
