/** What all commands print alike: colours, line lengths, errors for programs, hints. */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMANDS } from "../helpers/commands.ts";
import { commandHelp, generalHelp, groupHelp } from "../../src/cli/help.ts";
import { parse } from "../../src/cli/parse.ts";
import { hasColour } from "../../src/cli/terminal.ts";
import { runCommand } from "../helpers/command.ts";

test.each<[Record<string, string>, boolean, boolean]>([
  [{}, true, true],
  [{}, false, false],
  [{ TERM: "dumb" }, true, false],
  [{ TERM: "dumb", FORCE_COLOR: "1" }, true, true],
  [{ NO_COLOR: "1", FORCE_COLOR: "1" }, true, false],
  [{ FORCE_COLOR: "1" }, false, true],
  [{ FORCE_COLOR: "0" }, true, false],
  [{ CLICOLOR_FORCE: "1" }, false, true],
])("with %p and a terminal: %p, colours are %p", (env, isTerminal, colours) => {
  expect(hasColour(env, isTerminal)).toBe(colours);
});

describe.each([60, 80, 120])("at %d columns", (width) => {
  test("no line of a help is longer, and no word is lost", () => {
    const texts = [
      generalHelp(COMMANDS, width),
      groupHelp("keys", COMMANDS, width),
      ...COMMANDS.map((command) => commandHelp(command, width)),
    ];
    for (const text of texts) {
      const lines = text.split("\n").filter((line) => !line.startsWith("Usage: "));
      // A label such as a long flag may take a line of its own width, and so may a word.
      const long = lines.filter((line) => line.length > width && /\S {1}\S/.test(line.slice(40)));
      expect(long).toEqual([]);
    }
    const words = (text: string) => text.split(/\s+/).sort();
    expect(words(generalHelp(COMMANDS, width))).toEqual(words(generalHelp(COMMANDS, 10_000)));
  });
});

test.each([
  ["start", "weir serve"],
  ["ps", "weir status"],
  ["down", "weir stop"],
  ["update", "install the new version"],
  ["init", "weir config init"],
])("the word %s of other tools is answered with what weir has", (word, hint) => {
  expect(() => parse([word], COMMANDS)).toThrow(hint);
});

test("no hint stands in the way of a command", () => {
  for (const { name } of COMMANDS)
    expect(() => parse([...name.split(" "), "--help"], COMMANDS)).not.toThrow();
});

test("a value that begins with a dash is told how to be written", () => {
  expect(() => parse(["keys", "create", "x", "--rpm", "-5"], COMMANDS)).toThrow("--rpm=-5");
});

test("with --json an error is JSON, and a missing file is a sentence", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "weir-output-"));
  try {
    const { code, err } = await runCommand(["status", "--json", "--nonsense"], { cwd });
    expect([code, JSON.parse(err)]).toEqual([
      2,
      { error: { message: expect.stringContaining("--nonsense") } },
    ]);
    const missing = await runCommand(["explain", "nofile.json"], { cwd });
    expect([missing.code, missing.err]).toEqual([1, "weir: nofile.json: there is no such file\n"]);
    const both = await runCommand(["explain", "nofile.json", "--json"], { cwd });
    expect(JSON.parse(both.err)).toEqual({ error: { message: "nofile.json: there is no such file" } });
    const faults = await runCommand(["drill", "--list", "--json", "--only", "cut"], { cwd });
    expect(JSON.parse(faults.out)).toEqual([
      expect.objectContaining({ fault: "cut", expects: expect.any(String) }),
    ]);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}, 60_000);
