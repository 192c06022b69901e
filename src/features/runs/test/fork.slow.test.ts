/** A run goes on with another model: what was before the fork never runs again, and what follows runs by the rule. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TOOL } from "../../../gateway/recording/entry.ts";
import { VERSION } from "../../../process/version.ts";
import { readRun } from "../../../tapes/file.ts";
import { RunStage, type Script } from "../../../../test/helpers/agent-run/stage.ts";
import type { Rule } from "../flags.ts";

setDefaultTimeout(240_000);

let stage: RunStage | undefined;
afterEach(() => stage?.stop());

type Turn = readonly [tool: string, line?: string];
const FIRST: readonly Turn[] = [["append", "one"], ["read"], ["append", "two"]];
/** Model m goes on as it began; model x does what the taped part did once more, reads, and writes a line of its own. */
const TURNS: Readonly<Record<string, readonly Turn[]>> = {
  m: FIRST,
  x: [...FIRST.slice(0, 2), ["append", "one"], ["read"], ["append", "three"], ["read"]],
};
const SCRIPT: Script = (results, model) => {
  const next = TURNS[model]![results.length];
  return next ? { calls: [next] } : { text: `${model}: ${results.join(" | ")}` };
};

/** Entry 8 is the call of the model that has the results of `append one` and `read`. */
const AT = 8;
const REFUSED =
  "append did not run: the fork runs only tools that their server marks readOnlyHint (--tools readonly), and this one is not; --tools live runs it.";

async function recorded(sdk: "openai" | "anthropic"): Promise<RunStage> {
  const made = new RunStage(SCRIPT);
  const ran = await made.weir(["record", "job.tape", ...made.agent(sdk)]);
  expect(ran).toMatchObject({ code: 0, said: "m: wrote one | reading 1: one | wrote two" });
  const { entries } = readRun(join(made.folder, "job.tape"), VERSION);
  expect(entries.map(({ call, operation }) => [call, operation])).toContainEqual([AT, "generate"]);
  expect(entries.find(({ call }) => call === AT)!.request.lines.join("\n")).toContain("reading 1: one");
  expect(entries.find(({ call }) => call === AT)!.cost).toBeGreaterThan(0);
  // What a tool of the taped part would write now is seen.
  writeFileSync(made.notes, "since then\n");
  return made;
}

const EXPECTED: Readonly<Record<Rule, { said: string; lines: string[]; code: number }>> = {
  live: {
    said: "x: wrote one | reading 1: one | wrote one | reading 1: since then | wrote three | reading 2: since then, three",
    lines: ["since then", "three"],
    code: 0,
  },
  readonly: {
    said: `x: wrote one | reading 1: one | wrote one | reading 1: since then | ${REFUSED} | reading 2: since then`,
    lines: ["since then"],
    code: 0,
  },
  tape: {
    said: "",
    lines: ["since then"],
    code: 0,
  },
};

test.each([
  ["live", "openai"],
  ["live", "anthropic"],
  ["readonly", "openai"],
  ["readonly", "anthropic"],
  ["tape", "openai"],
] as const)("with tools by the rule %s (%s)", async (rule, sdk) => {
  stage = await recorded(sdk);
  const model = sdk === "openai" ? "fake/x" : "claude/x";
  const asked = stage.asked.length;
  const out = join(stage.folder, "fork.tape");
  const words = ["fork", "job.tape", "--at", String(AT), "--model", model, "--tools", rule, "--out", out];
  const forked = await stage.weir([...words, ...stage.agent(sdk)]);
  const { said, lines, code } = EXPECTED[rule];
  expect({ code: forked.code, lines: stage.lines, said: forked.said, err: forked.err }).toMatchObject({
    ...{ code, lines },
    said:
      rule === "tape"
        ? expect.stringMatching(
            /^x: wrote one \| reading 1: one \| wrote one \| reading 1: one \| ERROR .*--tools tape/,
          )
        : said,
  });
  // Not one call of the taped part asked a provider.
  expect(new Set(stage.asked.slice(asked))).toEqual(new Set(["x"]));
  const { entries, fork } = readRun(out, VERSION);
  expect(fork).toEqual({ parent: join(stage.folder, "job.tape"), at: AT, model, tools: rule });
  expect(entries.map(({ call }) => call)).toEqual(entries.map((_, at) => at + 1));
  const models = entries.filter(({ operation }) => operation === "generate");
  expect(models.map(({ taped }) => taped !== undefined)).toEqual([
    true,
    true,
    ...models.slice(2).map(() => false),
  ]);
  expect(models.at(-1)).toMatchObject({ from: { model: "x" }, cost: expect.any(Number) });
  const calls = entries.filter(({ operation, tool }) => operation === TOOL && tool!.method === "tools/call");
  expect(calls.slice(0, 3).map(({ taped }) => taped !== undefined)).toEqual([true, true, true]);
  // The fork is a run as others are: the same agent gets it offline.
  const replayed = await stage.weir(["replay", "fork.tape", ...stage.agent(sdk)]);
  expect(replayed).toMatchObject({ code: 0, said: forked.said });
});
