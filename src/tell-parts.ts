/** What the log tells of the parts that serve: plugins, providers, models of the store. */
import type { Assembled } from "./assemble.ts";
import type { Config } from "./config/schema.ts";
import type { Logger } from "./server/log.ts";
import { wantedButOff } from "./wanted-but-off.ts";

/** Rules that match no model are told after this time. Milliseconds. */
const UNMATCHED_MS = 1_000;

/** @param isFirst whether this process reports for all of the gateway */
export function tellParts({ broken, plugins, registry }: Assembled, logger: Logger, isFirst: boolean): void {
  for (const { message } of broken) logger.fault(`plugin not loaded: ${message}`);
  if (isFirst)
    for (const { provider, reason } of wantedButOff(registry))
      logger.fault(`provider ${provider.name} is off: ${reason}`);
  for (const { plugin, source, sha256 } of plugins)
    if (sha256) logger.info(`plugin ${plugin.name} is loaded`, { source, sha256 });
}

/** Later than the first answers, because it reads the price book. @param current what serves then */
export function tellUnmatched(current: () => { config: Config; parts: Assembled }, logger: Logger): void {
  setTimeout(async () => {
    const { unmatchedRules } = await import("./known-models.ts");
    const { config, parts } = current();
    for (const found of await unmatchedRules(config, parts.registry)) logger.info(found, {});
  }, UNMATCHED_MS).unref();
}
