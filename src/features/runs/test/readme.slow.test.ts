/** The example of README.md: its commands run, and print what it shows. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { blockOf, readDocument } from "../../../../test/helpers/documents.ts";
import { RunStage, type Script } from "../../../../test/helpers/agent-run/stage.ts";

setDefaultTimeout(240_000);

const README = "src/features/runs/README.md";
const TURNS: Readonly<Record<string, readonly (readonly [string, string?])[]>> = {
  m: [["append", "one"], ["read"], ["append", "two"]],
  x: [["append", "one"], ["read"], ["read"]],
};
const SCRIPT: Script = (results, model) => {
  const next = TURNS[model]![results.length];
  return next ? { calls: [next] } : { text: `${model}: ${results.join(" | ")}` };
};

const stage = new RunStage(SCRIPT);
afterAll(() => stage.stop());

test("the commands print what the document shows", async () => {
  const [, ...words] = stage.agent("openai");
  const file = join(stage.folder, "agent");
  writeFileSync(file, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(" ")}\n`);
  chmodSync(file, 0o755);
  const shown: string[] = [];
  for (const line of blockOf(README, "sh", "weir fork").trim().split("\n")) {
    const [, ...args] = line.split(" ");
    const { code, out, err } = await stage.weir(args);
    expect(code, err).toBe(0);
    if (args[0] === "runs") shown.push(out);
  }
  const [entries = "", forks = ""] = [...readDocument(README).matchAll(/```text\n([^]*?)\n```/g)].map(
    ([, text]) => text!,
  );
  expect(shown[0]).toStartWith(entries);
  const [, after = ""] = shown[1]!.split("\n\n");
  expect(unnamed(after)).toEqual(unnamed(forks));
  // The fork wrote nothing: the run did, twice.
  expect(stage.lines).toEqual(["one", "two"]);
});

/** Without the id of the fork, which each run makes anew, and the width that it gives to its column. */
const unnamed = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => line.replace(/^(?:r[0-9a-f]{8}|ID)\b/, "ID").replace(/ {2,}/g, "  "));
