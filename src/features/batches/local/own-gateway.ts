/** The gateway of a command: it runs in this process, on a port of loopback, with a state folder and a key of its own. */
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { configOptions, type Context } from "../../../cli/command.ts";
import { lockState } from "../../../cli/lock.ts";
import { readConfig } from "../../../config/load.ts";
import { readKeys } from "../../../config/sections/keys.ts";
import type { Config } from "../../../config/schema.ts";
import { startWeir } from "../../../run/weir.ts";
import { batchesSection } from "../section.ts";

/** Of batches of these commands, so that the same command can go on for long. */
export const LONGEST_WINDOW = "30d";

const LOCK = "weir.lock";
const NAME = "weir-batches-run";
/** Longest time for lines that run to end. Milliseconds. */
const GRACE_MS = 600_000;

export interface OwnOptions {
  /** Its state folder; the process holds a lock on it. */
  readonly folder: string;
  /** What an earlier process has left there is deleted. */
  readonly isFresh?: boolean;
  /** Dollars that all lines together may cost. */
  readonly budget?: number;
  /** Default: that of the config. */
  readonly how?: "auto" | "native" | "run";
}

export interface OwnGateway {
  /** Asks as a client. @throws Error with the sentence of the gateway */
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** Resolves when the lines have ended that run. */
  stop(): Promise<void>;
}

/** @throws Error with a sentence if the config cannot be used, or another process has the folder */
export async function startOwn(
  context: Context,
  { folder, isFresh = false, budget, how }: OwnOptions,
): Promise<OwnGateway> {
  const { config, ...sources } = await readConfig(configOptions(context));
  const home = lockState({ kind: "folder", folder, named: true });
  if (isFresh) forget(folder);
  const key = keyIn(folder);
  const { references, columns, keyOptions, headers, ownPlugins, workers, env } = context;
  const weir = await startWeir({
    ...sources,
    ...{ env, home, references, columns, keyOptions, headers, ownPlugins, workers },
    write: (text: string) => appendFileSync(join(folder, "log"), text.endsWith("\n") ? text : `${text}\n`),
    config: ownConfig(config, key, { folder, budget, how }),
  });
  const { fault } = await weir.books();
  if (fault !== undefined) {
    await weir.stop();
    throw new Error(`${folder} cannot be used: ${fault}`);
  }
  return {
    async ask(path, init = {}) {
      const headersOf = new Headers(init.headers);
      headersOf.set("authorization", `Bearer ${key}`);
      const answer = await fetch(weir.url + path, { ...init, headers: headersOf });
      if (answer.ok) return answer;
      const { error } = (await answer.json().catch(() => ({}))) as { error?: { message?: string } };
      throw new Error(error?.message ?? `${path} was answered with ${answer.status}`);
    },
    stop: () => weir.stop(GRACE_MS),
  };
}

function ownConfig(
  config: Config,
  key: string,
  { folder, budget, how }: { [Name in keyof OwnOptions]: OwnOptions[Name] | undefined },
): Config {
  const batches = batchesSection.of(config);
  const limit = { on: "all", every: "total", limit: budget ?? 0, mode: "hard" } as const;
  // Sections of features are no members of the type.
  const sections = {
    batches: {
      ...batches,
      ...{ on: true, yield: false, admit: "lines", window: LONGEST_WINDOW },
      ...{ folder: join(folder!, "batches"), ...(how && { how }) },
      limits: { ...batches.limits, lines: 1_000_000, bytes: "512MB" },
    },
  };
  return {
    ...config,
    ...{ host: "127.0.0.1", port: 0, workers: 1, listen: { mode: config.listen.mode }, tls: {} },
    ...{ watch: "off", admin: "off", state: folder!, store: {}, cluster: false },
    log: { ...config.log, level: "warn" },
    // Keys of the config stay, because budgets and limits may name them.
    keys: [...config.keys, ...readKeys([{ name: NAME, key }], () => NAME)],
    budgets: { ...config.budgets, ...(budget !== undefined && { [NAME]: limit }) },
    ...sections,
  };
}

/** All but the lock that this process has just taken. */
function forget(folder: string): void {
  for (const name of readdirSync(folder))
    if (!name.startsWith(LOCK)) rmSync(join(folder, name), { recursive: true, force: true });
}

/** The same for all starts: the key has made the batch. */
function keyIn(folder: string): string {
  const path = join(folder, "key");
  if (!existsSync(path)) writeFileSync(path, randomBytes(24).toString("hex"), { mode: 0o600 });
  return readFileSync(path, "utf8");
}
