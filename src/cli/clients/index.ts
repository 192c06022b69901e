/** How each known client is pointed at a gateway. An unknown command gets the variables of the SDKs. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { claudeCode } from "./claude-code.ts";
import type { Aim, GatewayAddress, KnownClient, Variables } from "./client.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import { continueCli } from "./continue.ts";
import { findClient, nameOf } from "./find.ts";
import { opencode } from "./opencode.ts";
import { geminiCli } from "./gemini-cli.ts";
import { aider, copilot, goose, qwenCode } from "./others.ts";
import { pi } from "./pi.ts";
import { sdkVariables } from "./sdk.ts";

export { nameOf };
export type { GatewayAddress, KnownClient } from "./client.ts";

export const CLIENTS: readonly KnownClient[] = [
  claudeCode,
  codex,
  opencode,
  pi,
  geminiCli,
  qwenCode,
  copilot,
  aider,
  goose,
  continueCli,
  cline,
];

/** The key for a gateway without keys: SDKs refuse to start without one. */
export const ANY_KEY = "weir";

/** A command that asks a gateway. */
export interface Pointed {
  /** Absent if the table does not know the command. */
  client?: KnownClient;
  command: readonly string[];
  /** The whole environment. */
  env: Record<string, string>;
  /** Deletes the files that were written for the client. To be called when it has ended. */
  cleanup(): void;
}

/** The row of a command; undefined for an unknown one. */
export function knownClient(command: readonly string[]): KnownClient | undefined {
  return findClient(command, CLIENTS)?.client;
}

/**
 * Points a command at a gateway. It changes no config of the user.
 * @param env the environment of the user
 */
export function pointClient(command: readonly string[], gateway: GatewayAddress, env: Variables): Pointed {
  const found = findClient(command, CLIENTS);
  const client = found?.client;
  const folder = client?.files ? mkdtempSync(join(tmpdir(), "weir-client-")) : "";
  const aim: Aim = { ...gateway, folder, user: env };
  if (client) fill(folder, client, aim);
  const variables = { ...env, ...sdkVariables(aim), ...client?.env?.(aim) };
  return {
    client,
    command: found ? command.toSpliced(found.flagsAt, 0, ...(client?.args?.(aim) ?? [])) : command,
    env: Object.fromEntries(Object.entries(variables).filter(isSet)),
    cleanup: () => (folder === "" ? undefined : rmSync(folder, { recursive: true, force: true })),
  };
}

function fill(folder: string, { files, links }: KnownClient, aim: Aim): void {
  for (const [name, text] of Object.entries(files?.(aim) ?? {})) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  }
  for (const [name, target] of Object.entries(links?.(aim) ?? {})) symlinkSync(target, join(folder, name));
}

function isSet(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined;
}
