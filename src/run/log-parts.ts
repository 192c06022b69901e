/** Opens the log, and writes there which plugins and providers serve, which do not and why, and which rules match no model. */
import type { Assembled } from "./assemble.ts";
import type { Config } from "../config/schema.ts";
import type { Columns } from "../core/column.ts";
import { createLogger, type Logger, type WriteLog } from "../server/log.ts";
import { writeTo } from "./log-writer.ts";
import { wantedButOff } from "./wanted-but-off.ts";

/** Delay of the report of rules that match no model. Milliseconds. */
const UNMATCHED_MS = 1_000;

/** Which log a gateway writes. */
interface LogSource {
  config: Config;
  worker?: number;
  terminal?: boolean;
  write?: WriteLog;
}

/** @param source `terminal`: the format `auto` means `pretty` @param hide masks secrets */
export function openLog(
  { config, worker, terminal, write }: LogSource,
  hide: (text: string) => string,
  columns: Columns,
): Logger {
  const { format, level } = config.log;
  return createLogger({
    format: format === "auto" ? (terminal ? "pretty" : "json") : format,
    level,
    worker,
    columns,
    hide,
    write: write ?? writeTo(process.stdout),
  });
}

/** @param isFirst whether this process reports for all of the gateway */
export function logParts({ broken, plugins, registry }: Assembled, logger: Logger, isFirst: boolean): void {
  for (const { message } of broken) logger.fault(`plugin not loaded: ${message}`);
  if (isFirst)
    for (const { provider, reason } of wantedButOff(registry))
      logger.fault(`provider ${provider.name} is off: ${reason}`);
  for (const { plugin, source, sha256 } of plugins)
    if (sha256) logger.info(`plugin ${plugin.name} is loaded`, { source, sha256 });
}

/** Reports rules that match no model, after the first answers, because it reads the price book. @param current what serves at that time */
export function logUnmatched(current: () => { config: Config; parts: Assembled }, logger: Logger): void {
  setTimeout(async () => {
    const { unmatchedRules } = await import("./known-models.ts");
    const { config, parts } = current();
    for (const found of await unmatchedRules(config, parts.registry)) logger.info(found, {});
  }, UNMATCHED_MS).unref();
}
