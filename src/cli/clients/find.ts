/** Finds a known client in a command, also behind programs that start another one. */
import { basename } from "node:path";
import type { KnownClient } from "./client.ts";

/** Programs behind which another program or a package stands: `npx -y @openai/codex`, `uv tool run aider`. */
const STARTERS = [
  ...["npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx", "uv", "uvx", "pipx", "node"],
  ...["env", "nice", "nohup", "setsid", "stdbuf", "time", "timeout"],
];
/** Their words before it. */
const WORDS = ["dlx", "exec", "x", "run", "tool"];
/** Their flags with a value. */
const VALUE_FLAGS = ["-p", "--package", "--from", "-n", "-u"];

/** @returns the client, and the place in the command where its flags begin */
export function findClient(
  command: readonly string[],
  clients: readonly KnownClient[],
): { client: KnownClient; flagsAt: number } | undefined {
  for (let at = 0; at < command.length; at++) {
    const word = command[at]!;
    const client = clients.find((candidate) => isNamed(word, candidate));
    // `npm exec codex -- FLAGS`
    if (client) return { client, flagsAt: at + (at > 0 && command[at + 1] === "--" ? 2 : 1) };
    if (!mayStartAnother(word, at)) return undefined;
    if (at > 0 && VALUE_FLAGS.includes(word)) at++;
  }
  return undefined;
}

function mayStartAnother(word: string, at: number): boolean {
  if (STARTERS.includes(nameOf(word))) return true;
  // A flag, `NAME=value` of env, the time of timeout.
  return at > 0 && (WORDS.includes(word) || /^(-|\w+=|\d+[smhd]?$)/.test(word));
}

function isNamed(word: string, { commands, packages }: KnownClient): boolean {
  const withoutVersion = word.replace(/(?<=.)@[^/]*$/, "");
  return (
    commands.includes(nameOf(withoutVersion)) ||
    packages.some(
      (name) => withoutVersion === name || word.replaceAll("\\", "/").includes(`/node_modules/${name}/`),
    )
  );
}

/** The name of a program without its folder and the ending that Windows needs. */
export function nameOf(word: string): string {
  return basename(word.replaceAll("\\", "/")).replace(/\.(exe|cmd|ps1)$/, "");
}
