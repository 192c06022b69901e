/** Two identical sides never differ: in one process, as another process, and as the command. `recorded/main.ts` asks for 100,000 calls. */
import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { environmentIn } from "../../../../test/helpers/environment.ts";
import { haveRecordings, NO_RECORDINGS } from "../../../../test/helpers/recordings.ts";
import { IS_LONG } from "../../../../test/helpers/effort.ts";
import { outlineFolder } from "../keep/files.ts";
import { rehearseIdentical } from "./recorded/identical.ts";
import { manyCalls } from "../release/calls.ts";
import { outlinedRecordings } from "./recorded/outlines.ts";

if (!haveRecordings) console.log(NO_RECORDINGS);

const MAIN = resolve(import.meta.dir, "../../../main.ts");
const CALLS = IS_LONG ? 100_000 : 1_500;
/** Calls a second that a tenth of the promised speed is, for both sides. */
const LEAST = 200;

const folder = mkdtempSync(join(tmpdir(), "weir-identical-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** This source as a build. */
function build(): string {
  const path = join(folder, "weir");
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

describe.skipIf(!haveRecordings)("identical sides", () => {
  const recorded = outlinedRecordings().map(({ outline }) => outline);

  test("in one process no call differs, at a tenth of the promised speed or more", async () => {
    const { done, calls, cpuSeconds } = await rehearseIdentical([...manyCalls(recorded, CALLS)]);
    expect(done.groups).toEqual([]);
    expect(done).toMatchObject({ calls: CALLS, changed: [] });
    // Those that continue what a provider or weir has stored.
    expect(done.unknown.length).toBeLessThan(CALLS / 20);
    expect(calls / cpuSeconds).toBeGreaterThan(LEAST);
  }, 600_000);

  test("against the same build as another process no call differs", async () => {
    const calls = [...manyCalls(recorded, IS_LONG ? 20_000 : 800)];
    const { done } = await rehearseIdentical(calls, build());
    expect(done.groups).toEqual([]);
    expect(done).toMatchObject({ calls: calls.length, changed: [] });
    expect(done.same).toBeGreaterThan(calls.length * 0.95);
  }, 600_000);

  test("the command says so and ends with 0, with each call of the state folder", () => {
    const calls = [...manyCalls(recorded.slice(0, 400), 800)];
    const state = join(folder, "state");
    mkdirSync(outlineFolder(state), { recursive: true });
    const lines = calls.map((call) => `${JSON.stringify(call)}\n`).join("");
    writeFileSync(join(outlineFolder(state), "2026-01-01T00.jsonl"), lines);
    const ran = Bun.spawnSync(
      [process.execPath, MAIN, "rehearse", "--state", state, "--binary", build(), "--json"],
      {
        cwd: folder,
        env: environmentIn(folder),
      },
    );
    expect([ran.exitCode, ran.exitCode === 0 ? "" : ran.stderr.toString()]).toEqual([0, ""]);
    const said = JSON.parse(ran.stdout.toString());
    expect(said).toMatchObject({ calls: 800, changed: 0 });
    expect(said.same + said.needs_tape).toBe(800);
  }, 120_000);
});
