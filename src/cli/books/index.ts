/** The commands of the books: keys, budgets, reports and the store. */
import type { Columns } from "../../core/column.ts";
import type { AddedFlag, Command } from "../command.ts";
import { adminKeyCreate } from "./admin.ts";
import { audit } from "./audit.ts";
import { auditLog } from "./audit-log.ts";
import { LIMIT_COMMANDS } from "./budgets.ts";
import { consoleCommand } from "./console.ts";
import { keysImport } from "./import.ts";
import type { KeyOption } from "../../ledger/keys/option.ts";
import { keyCommands } from "./keys.ts";
import { logsCommand } from "./logs.ts";
import { metricsDashboard } from "./metrics.ts";
import { MODEL_COMMANDS } from "./models.ts";
import { PRICE_COMMANDS } from "./prices.ts";
import { STORE_COMMANDS } from "./store.ts";
import { usage } from "./usage.ts";

/** @param columns of the calls, for the filters of `weir logs` @param keyOptions of keys in this build @param added flags of features */
export const bookCommands = (
  columns: Columns,
  keyOptions: readonly KeyOption[],
  added: readonly AddedFlag[],
): readonly Command[] => [
  ...keyCommands(keyOptions),
  keysImport,
  ...MODEL_COMMANDS,
  ...LIMIT_COMMANDS,
  usage,
  logsCommand(
    columns,
    added.filter(({ of }) => of === "logs"),
  ),
  ...PRICE_COMMANDS,
  audit,
  auditLog,
  ...STORE_COMMANDS,
  adminKeyCreate,
  consoleCommand,
  metricsDashboard,
];
