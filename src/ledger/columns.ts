/** The members of a call's record that are declared as columns, in every build. */
import { Type } from "@sinclair/typebox";
import { column } from "../core/column.ts";
import { MAX_PROVIDER_TEXT } from "./record.ts";

const upstreamId = column({
  name: "upstreamId",
  schema: Type.String({ description: "The provider's id of the request." }),
  of: ({ attempt }) => attempt?.upstreamRequestId?.slice(0, MAX_PROVIDER_TEXT),
  fact: { label: "Provider's id", text: (id) => id, find: (id) => id },
  filter: { value: "ID", help: "calls whose request has this id at the provider" },
});

/** The values of columns that plugins declare, by `PLUGIN.NAME`. They are checked when they come in here. */
export const pluginValues = column({
  name: "plugins",
  schema: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
    description: "What plugins say of the call, by the name of the plugin and of its column.",
  }),
  log: { name: "plugins" },
  line: (values) => listed(values, "="),
  fact: { label: "Plugins", text: (values) => listed(values, " ") },
});

function listed(values: Readonly<Record<string, string | number | boolean>>, between: string): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}${between}${value}`)
    .join(", ");
}

export const LEDGER_COLUMNS = [upstreamId, pluginValues];
