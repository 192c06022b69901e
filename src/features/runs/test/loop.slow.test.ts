/** Tools that weir runs for models are held to the rule of a fork as those that a client calls. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { RunStage } from "../../../../test/helpers/agent-run/stage.ts";

setDefaultTimeout(240_000);

let stage: RunStage | undefined;
afterEach(() => stage?.stop());

/** Asks twice; weir runs the tools. */
const CLIENT = `
const ask = async (content) => {
  const answer = await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json", "x-weir-tools": "notes" },
    body: JSON.stringify({ model: "fake/m", messages: [{ role: "user", content }] }),
  });
  return (await answer.json()).choices[0].message.content;
};
console.log("SAID " + (await ask("First.")) + " / " + (await ask("Second.")));
`;

test.each([
  [
    "tape",
    /^x: \[tool error\] notes__append did not run: .*--tools tape.* \| \[tool error\] notes__read did not run: .*$/,
    ["one"],
  ],
  [
    "readonly",
    /^x: \[tool error\] notes__append did not run: .*--tools readonly.* \| reading 1: one$/,
    ["one"],
  ],
  ["live", /^x: wrote two \| reading 1: one, two$/, ["one", "two"]],
] as const)("by the rule %s", async (rule, second, lines) => {
  stage = new RunStage((results, model) => {
    if (results.length === 0) return { calls: [["notes__append", model === "m" ? "one" : "two"]] };
    if (model === "x" && results.length === 1) return { calls: [["notes__read"]] };
    return { text: `${model}: ${results.join(" | ")}` };
  });
  writeFileSync(join(stage.folder, "client.ts"), CLIENT);
  const client = ["--", process.execPath, join(stage.folder, "client.ts")];
  const recorded = await stage.weir(["record", "job.tape", ...client]);
  expect([recorded.code, recorded.said]).toEqual([0, "m: wrote one / m: wrote one"]);
  writeFileSync(stage.notes, "one\n");
  const words = ["fork", "job.tape", "--at", "2", "--model", "fake/x", "--tools", rule];
  const forked = await stage.weir([...words, ...client]);
  expect(forked.code, forked.err).toBe(0);
  const [first, said] = forked.said!.split(" / ");
  expect(first).toBe("m: wrote one");
  expect(said).toMatch(second);
  expect(stage.lines).toEqual([...lines]);
});
