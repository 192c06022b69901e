/** Puts what plugins note in their columns into the record of a call, as far as it fits the schema of the column. */
import type { TSchema } from "@sinclair/typebox";
import { schemaOf } from "../config/plain-schema.ts";
import { findFaults } from "../config/shape.ts";
import type { Call } from "../core/call.ts";
import type { Plugin } from "../core/plugin.ts";
import type { PluginColumn } from "../core/plugin-column.ts";
import { limitText, printable } from "../core/printable.ts";
import type { CallObserver } from "../gateway/delivery/settle.ts";
import type { LoadedPlugin } from "../gateway/routing/registry.ts";
import { pluginValues } from "../ledger/columns.ts";
import { Seldom } from "./seldom.ts";

/** Longest text of a column. Bytes of UTF-8. */
const MAX_TEXT_BYTES = 256;

interface Declared {
  readonly plugin: string;
  /** `PLUGIN.COLUMN` */
  readonly name: string;
  readonly column: PluginColumn;
  readonly schema: TSchema;
}

/** The columns of a plugin. @throws Error with a clause for a schema that weir cannot check */
export function columnsOf({ name: plugin, columns = [] }: Plugin): readonly Declared[] {
  return columns.map((column) => {
    const { type } = column.schema;
    if (!["string", "number", "integer", "boolean"].includes(type))
      throw new Error(
        `the type of its column ${column.name} must be string, number, integer or boolean, not ${type}`,
      );
    const schema = schemaOf(column.schema, `the schema of its column ${column.name}`);
    return { plugin, name: `${plugin}.${column.name}`, column, schema };
  });
}

/**
 * Takes the values of a call, before its record and its line of the log are written.
 * @param onFault gets a sentence about a value that is left out or cut, once a minute for each column
 * @returns no observer if no plugin has columns
 */
export function pluginColumns(
  plugins: readonly LoadedPlugin[],
  onFault: (sentence: string) => void,
): CallObserver[] {
  const declared = plugins.flatMap(({ plugin }) => columnsOf(plugin));
  if (declared.length === 0) return [];
  const seldom = new Seldom(onFault);
  return [(call) => gather(call, declared, seldom)];
}

function gather(call: Call, declared: readonly Declared[], faults: Seldom): void {
  if (call.notes === undefined) return;
  let values: Record<string, string | number | boolean> | undefined;
  for (const { plugin, name, column, schema } of declared) {
    const given = column.get(call);
    if (given === undefined) continue;
    const fault = findFaults(schema, given, [name])[0];
    if (fault) {
      faults.say(
        name,
        `plugin ${plugin}: the record of ${call.id} is without its column ${name}: ${fault.clause}`,
      );
      continue;
    }
    const { value, isCut } = shortened(given as string | number | boolean);
    if (isCut)
      faults.say(
        name,
        `plugin ${plugin}: its column ${name} is cut at ${MAX_TEXT_BYTES} bytes in the record of ${call.id}`,
      );
    (values ??= {})[name] = value;
  }
  if (values) pluginValues.set(call, values);
}

function shortened(given: string | number | boolean): { value: string | number | boolean; isCut?: boolean } {
  if (typeof given !== "string") return { value: given };
  const text = printable(given);
  const value = limitText(text, MAX_TEXT_BYTES);
  return { value, isCut: value !== text };
}
