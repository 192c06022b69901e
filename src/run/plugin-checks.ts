/** What plugins find when `weir check` asks them. */
import { describeThrown } from "../core/error-text.ts";
import { isObject } from "../core/json.ts";
import type { CheckHow, Plugin, PluginFinding } from "../core/plugin.ts";
import { limitText, printable } from "../core/printable.ts";
import type { LoadedPlugin } from "../gateway/routing/registry.ts";

/** Longest time that one plugin may take. Milliseconds. */
const LONGEST_MS = 10_000;
const MOST_FINDINGS = 20;
const MAX_BYTES = 1_024;

/** Sentences for `weir check`, each with the name of its plugin. */
export interface Findings {
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
}

/** The findings of all plugins. A check that fails is a fault of its own. */
export async function findingsOf(
  plugins: readonly LoadedPlugin[],
  how: CheckHow,
  longestMs = LONGEST_MS,
): Promise<Findings> {
  const found = (await Promise.all(plugins.map(({ plugin }) => ask(plugin, how, longestMs)))).flat();
  const those = (wanted: PluginFinding["severity"]) =>
    found.flatMap(({ severity, message }) => (severity === wanted ? [message] : []));
  return { faults: those("fault"), warnings: those("warning") };
}

async function ask(plugin: Plugin, how: CheckHow, longestMs: number): Promise<readonly PluginFinding[]> {
  if (!plugin.check) return [];
  try {
    const given: unknown = await inTime(async () => plugin.check!(how), longestMs);
    return checked(given).map(({ severity, message }) => ({ severity, message: told(plugin.name, message) }));
  } catch (cause) {
    const message = told(plugin.name, `its check failed: ${describeThrown(cause).split("\n")[0]}`);
    return [{ severity: "fault", message }];
  }
}

async function inTime<Value>(run: () => Promise<Value>, longestMs: number): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it took longer than ${longestMs / 1_000} s`)), longestMs);
  try {
    return await Promise.race([run(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** @throws Error for anything but a list of findings */
function checked(given: unknown): readonly PluginFinding[] {
  if (!Array.isArray(given) || !given.every(isFinding))
    throw new Error('it must return a list of { severity: "fault" or "warning", message }');
  if (given.length <= MOST_FINDINGS) return given;
  const rest = given.slice(MOST_FINDINGS);
  const severity = rest.some((one) => one.severity === "fault") ? "fault" : "warning";
  return [...given.slice(0, MOST_FINDINGS), { severity, message: `and ${rest.length} more findings.` }];
}

function isFinding(one: unknown): one is PluginFinding {
  return (
    isObject(one) &&
    (one["severity"] === "fault" || one["severity"] === "warning") &&
    typeof one["message"] === "string"
  );
}

const told = (plugin: string, message: string) =>
  `plugin ${plugin}: ${limitText(printable(message), MAX_BYTES)}`;
