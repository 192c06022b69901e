/**
 * `weir exec` with real clients, where they are installed: in PATH, or in the folders of `WEIR_CLIENTS`, separated by colons, such as
 * a folder in which `npm install @openai/codex` was run. It names those that it does not find.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { CLIENTS } from "../../../cli/clients/index.ts";
import { runCommand } from "../../../../test/helpers/command.ts";

setDefaultTimeout(600_000);

const folders = (process.env["WEIR_CLIENTS"] ?? "").split(delimiter).filter(Boolean);
const PATH = [
  ...folders.flatMap((folder) => [join(folder, "node_modules/.bin"), join(folder, "bin")]),
  process.env["PATH"],
].join(delimiter);

/** How each client asks one question and ends. */
const ASKS: Readonly<Record<string, readonly string[]>> = {
  claude: ["-p", "Say hello"],
  codex: ["exec", "--skip-git-repo-check", "Say hello"],
  opencode: ["run", "Say hello"],
  pi: ["-p", "Say hello"],
  gemini: ["--skip-trust", "-p", "Say hello"],
  qwen: ["-p", "Say hello"],
  copilot: ["-p", "Say hello", "--allow-all-tools"],
  aider: ["--no-git", "--yes-always", "--message", "Say hello"],
  goose: ["run", "--no-session", "--text", "Say hello"],
  cn: ["-p", "Say hello"],
  cline: ["Say hello"],
};

test.each(CLIENTS.map(({ name, commands: [command] }) => [name, command!]))(
  "%s gives the answer of the mock in an empty home folder, if it is installed",
  async (name, command) => {
    if (Bun.which(command, { PATH }) === null) return console.log(`${name} is not installed: it is not run.`);
    const home = mkdtempSync(join(tmpdir(), "weir-installed-"));
    try {
      const { code, out, err } = await runCommand(
        ["exec", "--model", "mock/chat", "--", command, ...ASKS[command]!],
        { cwd: home, env: { PATH, WEIR_STATE: "none" } },
      );
      expect([code, out]).toEqual([0, expect.stringMatching(/weir|Say hello/)]);
      expect(err).toContain(`${name} asks a gateway`);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
);

test("each client of the table has a question here", () => {
  expect(Object.keys(ASKS).sort()).toEqual(CLIENTS.map(({ commands }) => commands[0]!).sort());
});
