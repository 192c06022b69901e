/** A run of an agent with tools on a tape: the replay needs no model and no server of tools. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { TOOL } from "../../../gateway/recording/entry.ts";
import { VERSION } from "../../../process/version.ts";
import { readTape } from "../../../tapes/file.ts";
import { ISOLATED, RunStage, type Script } from "../../../../test/helpers/agent-run/stage.ts";

setDefaultTimeout(120_000);

let stage: RunStage | undefined;
afterEach(() => stage?.stop());

/** Reads twice with the same arguments: the results differ. */
const SCRIPT: Script = (results) => {
  const turns: readonly (readonly [string, string?])[] = [
    ["append", "one"],
    ["read"],
    ["append", "two"],
    ["read"],
  ];
  const next = turns[results.length];
  return next ? { calls: [next] } : { text: `Done: ${results.join(" | ")}` };
};
const SAID = "Done: wrote one | reading 1: one | wrote two | reading 2: one, two";

test.each([
  ["openai", "notes"],
  ["anthropic", "notes"],
  ["openai", "-"],
] as const)("%s at %s: offline it says the same, and no server starts", async (sdk, server) => {
  const prefix = server === "-" ? "notes__" : "";
  stage = new RunStage((results, model) => {
    const said = SCRIPT(results, model);
    return { ...said, ...(said.calls && { calls: said.calls.map(([name, line]) => [prefix + name, line]) }) };
  });
  const recorded = await stage.weir(["record", "job.tape", ...stage.agent(sdk, { server })]);
  expect(recorded).toMatchObject({ code: 0, said: SAID });
  expect(recorded.err).toContain("5 calls and 6 messages to tools are on the tape job.tape");
  const entries = readTape(join(stage.folder, "job.tape"), VERSION);
  expect(entries.map(({ operation, tool }) => (operation === TOOL ? tool!.method : operation))).toEqual([
    ...["initialize", "notifications/initialized", "tools/list", "generate", "tools/call", "generate"],
    ...["tools/call", "generate", "tools/call", "generate", "tools/call", "generate"],
  ]);
  expect(entries.map(({ call }) => call)).toEqual(entries.map((_, at) => at + 1));
  rmSync(stage.notes);
  stage.configure([join(stage.folder, "no-such-program")]);
  const asked = stage.asked.length;
  const isolated = Bun.spawnSync(["unshare", "-n", "true"]).success ? ISOLATED : [];
  const replayed = await stage.weir(["replay", "job.tape", ...stage.agent(sdk, { server })], isolated);
  expect(replayed).toMatchObject({ code: 0, said: SAID, err: expect.not.stringContaining("not asked for") });
  expect([stage.lines, stage.asked.length]).toEqual([[], asked]);
});

test.each([
  ["legacy", "2025-11-25"],
  ["auto", "2026-07-28"],
] as const)("a client of the era %s gets the same of all that servers do", async (mode, revision) => {
  stage = new RunStage(SCRIPT);
  const recorded = await stage.weir(["record", "job.tape", ...stage.prober(mode)]);
  expect([recorded.code, recorded.err]).toEqual([0, expect.stringContaining("messages to tools")]);
  expect(recorded.out).toContain(`speaks "${revision}"`);
  expect(recorded.out).toContain('read ["reading 1: one","reading 2: one","reading 3: one"]');
  expect(recorded.out).toContain('asked "Who are you?"\nanswered {"text":"hello Anna"}');
  expect(recorded.out).toContain("progress [1,2,3]");
  rmSync(stage.notes);
  stage.configure([join(stage.folder, "no-such-program")]);
  const replayed = await stage.weir(["replay", "job.tape", ...stage.prober(mode)]);
  expect(replayed).toMatchObject({ code: 0, out: recorded.out });
  // Another argument is not on the tape: the client and the user see what differs.
  const other = await stage.weir(["replay", "job.tape", ...stage.prober(mode, "two")]);
  expect(other.code).toBe(1);
  const differing = '-   line: "one"\n+   line: "two"';
  expect(other.err).toContain(differing);
  expect(other.err).toContain("1 request was not on the tape job.tape");
  expect(other.out).toMatch(/^wrote \{"error":".*The nearest recorded request is call \d+.*line: .*two/m);
  expect(stage.lines).toEqual([]);
});
