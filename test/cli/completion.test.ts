/** The completion scripts, in the shells that this machine has. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMANDS } from "../helpers/commands.ts";
import { runCommand } from "../helpers/command.ts";
import { faultsOf } from "../helpers/powershell.ts";

// Each command and each shell is a process of its own.
setDefaultTimeout(120_000);

const folder = tmpdir();
const scriptOf = async (shell: string) => (await runCommand(["completion", shell], { cwd: folder })).out;

/** Typed words, the last of them still being typed; what has to be offered, and what must not be. */
const CASES: [typed: string[], offers: string[], not?: string[]][] = [
  [["ch"], ["check", "chat"], ["serve"]],
  [[""], ["serve", "plugin", "config", "completion"]],
  [["plugin", ""], ["new", "list"], ["serve"]],
  [
    ["--config", "x.yaml", "plugin", ""],
    ["new", "list"],
  ],
  [["check", "--o"], ["--offline"]],
  [["explain", "--format", "mess"], ["messages"], ["chat-completions"]],
  [["serve", "--log-level", ""], ["info", "warn", "error", "silent"], ["check"]],
  [["completion", "b"], ["bash"], ["zsh"]],
  [["config", "sho"], ["show"]],
  [["audit", ""], ["log"]],
  [["audit", "--j"], ["--json"]],
  [["explain", "weir-file-"], ["weir-file-of-test.json"]],
  [["--config", "weir-file-"], ["weir-file-of-test.json"]],
];

/** Runs with one file in the working directory. */
function inFolder<Value>(use: (dir: string) => Value): Value {
  const dir = mkdtempSync(join(tmpdir(), "weir-completion-"));
  writeFileSync(join(dir, "weir-file-of-test.json"), "");
  try {
    return use(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

test("each script names every command and every flag", async () => {
  for (const shell of ["bash", "zsh", "fish", "powershell"]) {
    const script = await scriptOf(shell);
    for (const { name, flags } of COMMANDS) {
      for (const word of name.split(" ")) expect(script).toContain(word);
      for (const flag of flags)
        expect(script).toContain(shell === "fish" ? `-l ${flag.name.slice(2)}` : flag.name);
    }
  }
});

describe("bash", () => {
  test("offers commands, subcommands, flags, their values and files", async () => {
    if (!Bun.which("bash")) return console.log("There is no bash here: its completion was not run.");
    const script = await scriptOf("bash");
    for (const [typed, offers, not = []] of CASES) {
      const words = ["weir", ...typed].map((word) => `'${word}'`).join(" ");
      const run = `${script}\nCOMP_WORDS=(${words}); COMP_CWORD=${typed.length}; _weir\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = inFolder((cwd) =>
        Bun.spawnSync(["bash", "--norc", "-c", run], { cwd, timeout: 60_000 }),
      );
      const offered = stdout.toString().trim().split("\n");
      expect([typed, stderr.toString(), offered]).toEqual([typed, "", expect.arrayContaining(offers)]);
      for (const word of not) expect(offered).not.toContain(word);
    }
  });
});

describe("zsh", () => {
  test("reads the script", async () => {
    if (!Bun.which("zsh")) return console.log("There is no zsh here: its completion was not read.");
    const { stderr, exitCode } = Bun.spawnSync(["zsh", "-f", "-n", "/dev/stdin"], {
      stdin: new Blob([await scriptOf("zsh")]),
      timeout: 60_000,
    });
    expect([stderr.toString(), exitCode]).toEqual(["", 0]);
  });
});

describe("powershell", () => {
  test("is a script whose brackets and texts end, and whose tables have each name once", async () => {
    expect(faultsOf("@{ 'a' = @('x'); 'A' = 1 }")).toEqual(["line 1: the table has a twice"]);
    expect(faultsOf("# it's\nif ($a) { 'it''s }'")).toEqual(["line 2: { is not closed"]);
    expect(faultsOf('"a`"b" )')).toEqual(["line 1: ) closes nothing"]);
    expect(faultsOf("'a")).toEqual(["line 1: a text has no end"]);
    const script = await scriptOf("powershell");
    expect(script.split("\n").length).toBeGreaterThan(50);
    expect(faultsOf(script)).toEqual([]);
    // An option's help must not end a text.
    expect(script).not.toContain("undefined");
  });

  test("offers commands, subcommands, flags, their values and files", async () => {
    if (!Bun.which("pwsh")) return console.log("There is no PowerShell here: its completion was not run.");
    const script = await scriptOf("powershell");
    for (const [typed, offers, not = []] of CASES) {
      const line = ["weir", ...typed].join(" ");
      const run = `${script}\n([System.Management.Automation.CommandCompletion]::CompleteInput('${line}', ${line.length}, $null)).CompletionMatches.CompletionText`;
      const { stdout, stderr } = inFolder((cwd) =>
        Bun.spawnSync(["pwsh", "-NoProfile", "-Command", run], { cwd, timeout: 60_000 }),
      );
      const offered = stdout
        .toString()
        .trim()
        .split(/\r?\n/)
        .map((word) => word.replace(/^\.[\\/]/, ""));
      expect([typed, stderr.toString(), offered]).toEqual([typed, "", expect.arrayContaining(offers)]);
      for (const word of not) expect(offered).not.toContain(word);
    }
  });
});

describe("fish", () => {
  test("offers commands, subcommands, flags, their values and files", async () => {
    if (!Bun.which("fish")) return console.log("There is no fish here: its completion was not run.");
    const script = await scriptOf("fish");
    for (const [typed, offers, not = []] of CASES) {
      const run = `${script}\ncomplete -C '${["weir", ...typed].join(" ")}'`;
      const { stdout, stderr } = inFolder((cwd) =>
        Bun.spawnSync(["fish", "--no-config", "-c", run], { cwd, timeout: 60_000 }),
      );
      const offered = stdout
        .toString()
        .trim()
        .split("\n")
        .map((line) => line.split("\t")[0]);
      expect([typed, stderr.toString(), offered]).toEqual([typed, "", expect.arrayContaining(offers)]);
      for (const word of not) expect(offered).not.toContain(word);
    }
  });
});
