/** The manual page, as `man` and mandoc read it. */
import { expect, test } from "bun:test";
import { COMMANDS } from "../helpers/commands.ts";
import { manPage } from "../../src/cli/man.ts";

const PAGE = manPage(COMMANDS);

/** The page as a reader sees it, on lines that are long enough for every row. */
function rendered(): string | undefined {
  const [command, env] = Bun.which("mandoc")
    ? [["mandoc", "-T", "utf8", "-O", "width=400"], {}]
    : [["man", "-l", "-"], { MANWIDTH: "400" }];
  if (!Bun.which(command[0]!)) return undefined;
  const run = Bun.spawnSync(command, {
    stdin: Buffer.from(PAGE),
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", LANG: "C.UTF-8", ...env },
  });
  expect(run.exitCode).toBe(0);
  // Overstrikes make bold and underlined letters.
  return run.stdout.toString().replace(/.\u0008/gu, "");
}

test("a reader sees every command, every flag with its help, and plain dashes", () => {
  const text = rendered();
  if (text === undefined) return console.log("There is neither mandoc nor man here: the page was not read.");
  for (const { name, summary, flags } of COMMANDS) {
    expect(text).toContain(`weir ${name}`);
    expect(text).toContain(summary);
    for (const flag of flags) {
      expect(text).toContain([flag.name, flag.value].filter(Boolean).join(" "));
      expect(text).toContain(flag.help);
    }
  }
});

test("mandoc finds nothing wrong but the date, which a build does not have", () => {
  if (!Bun.which("mandoc")) return console.log("There is no mandoc here: the page was not checked.");
  const run = Bun.spawnSync(["mandoc", "-T", "lint", "-W", "style"], { stdin: Buffer.from(PAGE) });
  const findings = run.stdout.toString().trim().split("\n").filter(Boolean);
  expect(findings.filter((line) => !line.includes("missing date"))).toEqual([]);
});

test("no line of text is a request of roff by accident", () => {
  const requests = new Set([...PAGE.matchAll(/^\.(\S+)/gm)].map(([, name]) => name!));
  expect([...requests].sort()).toEqual(["B", "EE", "EX", "PP", "SH", "SS", "TH", "TP"]);
  expect(PAGE).not.toMatch(/^'/m);
});
