/** A member that a plugin adds to the record of a call. */
import type { CallView } from "./call-view.ts";
import { assertListed } from "./plugin-listed.ts";
import type { OptionSchema } from "./plugin-schema.ts";
import { Slot } from "./slot.ts";

/** The schema of a column's value: a text, a number, or true and false. */
export type ColumnSchema = OptionSchema & { readonly type: "string" | "number" | "integer" | "boolean" };

export interface PluginColumnOptions<Schema extends ColumnSchema = ColumnSchema> {
  /** Letters, digits and underscores. The record has it below the name of the plugin: `PLUGIN.NAME`. */
  readonly name: string;
  readonly schema: Schema;
}

/** The typed key of its value. {@link defineColumn} makes one. */
export class PluginColumn<Value = unknown> extends Slot<Value> {
  readonly name: string;
  readonly schema: ColumnSchema;

  constructor(name: string, schema: ColumnSchema) {
    super();
    this.name = name;
    this.schema = schema;
  }

  /** Sets the value of a call; the last one counts. @throws Error in `done`, which runs when the record is written */
  override set(call: CallView, value: Value): void {
    if ("outcome" in call)
      throw new Error(`the column ${this.name} must be set before done, where the record is already written`);
    assertListed(this);
    super.set(call, value);
  }
}
