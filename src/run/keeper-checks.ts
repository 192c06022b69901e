/** Reasons for which the keeper refuses a start: known before the gateway listens, so that no client is served and then cut off. */
import { endsWithin } from "../core/within.ts";
import type { Config } from "../config/schema.ts";
import type { GatewayKeys } from "./keys.ts";
import type { KeeperClient } from "../keeper/client.ts";
import { isPostgres, type KeeperSettings } from "../keeper/settings.ts";
import { mayHavePolicy } from "./home.ts";

/** Maximum time for the keys of the store to arrive. Milliseconds. */
const KEYS_MS = 5_000;

/**
 * Whether the start waits for the keeper. A gateway without keys, budgets and settings that can fail listens first: its first
 * answer is then sooner.
 */
export function isDecisive(keeping: KeeperSettings, { admin, responses }: Config): boolean {
  const isAdminChosen = admin !== "off" && (admin.port !== undefined || admin.host !== undefined);
  return isAdminChosen || hasFile(keeping) || (keeping.answers !== undefined && responses.store === "on");
}

/** A file that exists must open. A server may be away: weir tries again while it serves. */
function hasFile(keeping: KeeperSettings): boolean {
  return mayHavePolicy(keeping) && !isPostgres(keeping.books?.url ?? "");
}

export interface KeeperChecks {
  keeper: KeeperClient;
  keeping: KeeperSettings;
  config: Config;
  keys: GatewayKeys;
  locate?: Parameters<GatewayKeys["assertNames"]>[1];
}

/** @throws Error with one sentence */
export async function checkKeeper({ keeper, keeping, config, keys, locate }: KeeperChecks): Promise<void> {
  const answerFault = await keeper.start();
  if (keeping.answers && answerFault !== undefined && config.responses.store === "on")
    throw new Error(`answers cannot be stored, and responses.store is on: ${answerFault}`);
  if (hasFile(keeping)) {
    await keeper.storeOpened();
    if (keeper.storeFault !== undefined) throw new Error(`the books cannot be opened: ${keeper.storeFault}`);
  }
  const admin = keeping.admin && (await keeper.adminOpened());
  if (admin && "fault" in admin) throw new Error(admin.fault);
  if (!hasFile(keeping)) return;
  const { pending } = keys.keyring;
  if (pending) await endsWithin(pending, KEYS_MS);
  keys.assertNames(config, locate);
}

/** For a start that fails: closes the keeper and throws the cause again. */
export function closing(keeper: KeeperClient): (cause: unknown) => Promise<never> {
  return async (cause) => {
    await keeper.close();
    throw cause;
  };
}
