/** All commands, in the order of the help. */
import type { Column } from "../core/column.ts";
import { columnsOf, type Feature, flagsOf, keyOptionsOf } from "../feature/feature.ts";
import type { KeyOption } from "../ledger/keys/option.ts";
import { KEY_OPTIONS } from "../ledger/keys/options.ts";
import { columnsWith } from "../run/columns.ts";
import type { AddedFlag, Command, CommandHead } from "./command.ts";
import { bookCommands } from "./books/index.ts";
import { chat } from "./chat.ts";
import { check } from "./check.ts";
import { completionCommand } from "./completion.ts";
import { configInit, configSchemaCommand, configShow } from "./config.ts";
import { explainCommand } from "./explain.ts";
import { health } from "./health.ts";
import { manCommand } from "./man.ts";
import { models } from "./models.ts";
import { pluginList, pluginNew } from "./plugin.ts";
import { reload } from "./reload.ts";
import { serve } from "./serve.ts";
import { status } from "./status.ts";
import { stop } from "./stop.ts";
import { upgrade } from "./upgrade/command.ts";
import { version } from "./version.ts";

/** The commands of weir with those of features. */
export function commandsWith(features: readonly Feature[]): readonly Command[] {
  const added = flagsOf(features);
  const core = coreCommands(() => commands, columnsOf(features), keyOptionsOf(features), added);
  const commands: readonly Command[] = insertHeads(withFlags(core, added), features);
  return commands;
}

/** Names of the commands that weir has without features. */
export const CORE_NAMES: readonly string[] = coreCommands(() => [], [], [], []).map(({ name }) => name);

/** @param all the command table, for the commands that print it @param columns and key options of features, and their flags of these commands */
function coreCommands(
  all: () => readonly Command[],
  columns: readonly Column[],
  keyOptions: readonly KeyOption[],
  added: readonly AddedFlag[],
): readonly Command[] {
  return [
    serve,
    status,
    stop,
    reload,
    upgrade,
    health,
    check,
    models,
    explainCommand,
    chat,
    ...bookCommands(columnsWith(columns), [...KEY_OPTIONS, ...keyOptions], added),
    pluginNew,
    pluginList,
    configInit,
    configSchemaCommand,
    configShow,
    completionCommand(all),
    manCommand(all),
    version,
  ];
}

/** Gives commands the flags of features. @throws Error with a sentence if there is no such command or flag */
function withFlags(core: readonly Command[], added: readonly AddedFlag[]): readonly Command[] {
  const commands = [...core];
  for (const one of added) {
    const at = commands.findIndex(({ name }) => name === one.of);
    const command = commands[at];
    const behind = command?.flags.findIndex(({ name }) => name === one.after) ?? -1;
    if (!command || behind < 0)
      throw new Error(`the flag ${one.name} follows ${one.after} of ${one.of}, which weir does not have`);
    if (command.flags.some(({ name }) => name === one.name))
      throw new Error(`a feature declares the flag ${one.name} of ${one.of}, which weir has without it`);
    commands[at] = {
      ...command,
      flags: command.flags.toSpliced(behind + 1, 0, one),
      run: async (context) =>
        context.flags[one.name] === undefined ? command.run(context) : (await one.run()).run(context),
    };
  }
  return commands;
}

/** Each command of a feature follows another one in the help, which may be that of a feature too. */
function insertHeads(core: readonly Command[], features: readonly Feature[]): Command[] {
  const commands = [...core];
  const heads = features.flatMap(({ commands: own = [] }) => own);
  const anchorOf = ({ after }: CommandHead) =>
    after.find((name) => [...core, ...heads].some((command) => command.name === name));
  for (let open = heads; open.length > 0;) {
    const head = open.find((one) => commands.some(({ name }) => name === anchorOf(one)));
    if (!head) throw new Error(`the command ${open[0]!.name} stands behind no command that weir has`);
    const at = commands.findIndex(({ name }) => name === anchorOf(head));
    commands.splice(at + 1, 0, { ...head, run: async (context) => (await head.run()).run(context) });
    open = open.filter((one) => one !== head);
  }
  return commands;
}
