/** All commands, in the order of the help. */
import type { Command } from "./command.ts";
import { BOOK_COMMANDS } from "./books/index.ts";
import { chat } from "./chat.ts";
import { check } from "./check.ts";
import { completionCommand } from "./completion.ts";
import { configInit, configSchemaCommand, configShow } from "./config.ts";
import { drill } from "./drill.ts";
import { exec } from "./exec.ts";
import { explainCommand } from "./explain.ts";
import { health } from "./health.ts";
import { importCommand } from "./import.ts";
import { manCommand } from "./man.ts";
import { models } from "./models.ts";
import { probe } from "./probe.ts";
import { record } from "./record.ts";
import { replay } from "./replay.ts";
import { pluginList, pluginNew } from "./plugin.ts";
import { reload } from "./reload.ts";
import { serve } from "./serve.ts";
import { status } from "./status.ts";
import { stop } from "./stop.ts";
import { version } from "./version.ts";

export const COMMANDS: readonly Command[] = [
  serve,
  exec,
  record,
  replay,
  drill,
  status,
  stop,
  reload,
  health,
  check,
  probe,
  models,
  explainCommand,
  chat,
  ...BOOK_COMMANDS,
  pluginNew,
  pluginList,
  importCommand,
  configInit,
  configSchemaCommand,
  configShow,
  completionCommand(() => COMMANDS),
  manCommand(() => COMMANDS),
  version,
];
