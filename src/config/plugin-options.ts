/** Options of plugins, under `plugins.NAME`: checked by the schema that the plugin brings. */
import { Value } from "@sinclair/typebox/value";
import type { JsonObject } from "../core/json.ts";
import { Secret } from "../core/secret.ts";
import { suggest } from "../core/suggest.ts";
import { ConfigError, type Path } from "./error.ts";
import { schemaOf } from "./plain-schema.ts";
import { findFaults } from "./shape.ts";

/** A plugin that has options. */
interface Configurable {
  name: string;
  section: { schema: JsonObject };
}

/** Options of plugins by name, as the section `plugins` contains them. Their texts are secrets: only the plugin knows which. */
export type WrittenOptions = Readonly<Record<string, unknown>>;

/**
 * The options of a plugin with the defaults of its schema.
 * @param locate position of a value in the file
 * @throws ConfigError for options that do not fit the schema
 * @throws Error with a clause for a schema that weir cannot check
 */
export function optionsFor(
  { name, section }: Configurable,
  written: WrittenOptions,
  locate: (path: Path) => string,
): JsonObject {
  const schema = schemaOf(section.schema);
  const path = ["plugins", name];
  const options = Value.Default(schema, reveal(written[name] ?? {}));
  const fault = findFaults(schema, options, path)[0];
  if (fault) throw new ConfigError(locate(fault.path), fault.clause, fault.path);
  return options as JsonObject;
}

/** @throws ConfigError for options of a plugin that is not there, or that has none */
export function assertPluginsKnown(
  written: WrittenOptions,
  plugins: readonly { name: string; section?: unknown }[],
  locate: (path: Path) => string,
): void {
  const names = plugins.flatMap(({ name, section }) => (section ? [name] : []));
  for (const name of Object.keys(written)) {
    if (names.includes(name)) continue;
    const path = ["plugins", name];
    const near = suggest(name, names);
    const isThere = plugins.some((plugin) => plugin.name === name);
    throw new ConfigError(
      locate(path),
      isThere
        ? `the plugin ${name} has no options`
        : `there is no plugin named ${name}${near === undefined ? "" : `, did you mean ${near}?`}`,
      path,
    );
  }
}

function reveal(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(reveal);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, reveal(inner)]));
}
