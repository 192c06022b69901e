/**
 * Checks what an external plugin declares, member by member. weir refuses unknown members when it loads the file, and suggests
 * the name that was probably meant: an ignored member would be a guard that never runs or a limit that never applies. The
 * tables are keyed by the types: when a type gains a member, the table does not compile until it has an entry for it.
 */
import type { Format } from "../core/format.ts";
import { isObject } from "../core/json.ts";
import type { Hooks, Plugin, PluginSection } from "../core/plugin.ts";
import { PluginColumn } from "../core/plugin-column.ts";
import type { PluginGuard } from "../core/plugin-guard.ts";
import { PluginMetric } from "../core/plugin-metric.ts";
import { FORMAT } from "./format-tables.ts";
import { PROVIDER } from "./provider-tables.ts";
import type { Table } from "./rules.ts";
import { callable, group, isText, listOf, madeBy, memberFault, must, required } from "./rules.ts";

const HOOKS: Table<Hooks> = {
  admit: callable,
  intercept: callable,
  request: callable,
  answer: callable,
  observe: callable,
  explain: callable,
  done: callable,
};

const PLUGIN: Table<Plugin> = {
  name: must("a text", isText),
  providers: listOf("provider", "name", PROVIDER),
  formats: listOf<Format>("format", "id", FORMAT),
  hooks: group("its hook", HOOKS),
  guards: listOf<PluginGuard>("guard", "name", {
    name: must("a text", isText),
    find: callable,
    reach: callable,
    ask: callable,
  }),
  section: group<PluginSection>("the section's", {
    schema: must("an object", isObject),
    configure: required(callable),
  }),
  columns: madeBy("defineColumn", PluginColumn, 16),
  metrics: madeBy("defineCounter or defineHistogram", PluginMetric, 16),
  check: callable,
};

/** @returns the first fault of a file's default export, as a clause; undefined if there is none */
export function declarationFault(exported: unknown): string | undefined {
  if (!isObject(exported)) return "has no default export; write `export default definePlugin({ … })`";
  if (!isText(exported["name"]) || exported["name"] === "") return "its default export has no name";
  return memberFault(exported, PLUGIN, "its");
}

/** Hooks that only look on: calls are answered in the same way without them. */
const ONLOOKERS = new Set(["observe", "explain", "done"]);

/**
 * Whether a plugin may decide about calls, by hooks or guards: refuse, answer or change them.
 * @param exported default export of its file; anything but a well-formed plugin may have had some
 */
export function mayDecide(exported: unknown): boolean {
  if (!isObject(exported)) return true;
  const { hooks, section, guards } = exported;
  // The hooks that it has for its options are known only when it is configured.
  if (section !== undefined || guards !== undefined) return true;
  if (Object.keys(exported).some((name) => !Object.hasOwn(PLUGIN, name))) return true;
  return hooks !== undefined && (!isObject(hooks) || Object.keys(hooks).some((name) => !ONLOOKERS.has(name)));
}
