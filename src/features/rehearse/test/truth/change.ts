/** The form of a change. */
import type { Config, Setup } from "./base.ts";

interface Named {
  readonly name: string;
}

/** A change of the config or the plugins. */
export interface SetupChange extends Named {
  readonly kind: "config" | "price" | "plugin";
  /** Edits the new setup in place. @param url of the fake provider */
  apply(setup: Setup, url: string): void;
}

/** One edit of the source. */
export interface FaultChange extends Named {
  readonly kind: "fault";
  /** From `src/` on. */
  readonly file: string;
  /** Text that the file has once. */
  readonly from: string;
  readonly to: string;
}

export type Change = SetupChange | FaultChange;

type Value = Record<string, unknown>;

/** Makes a change that sets one value, by the names on the way to it. `undefined` removes it. */
export function setting(kind: SetupChange["kind"], way: readonly string[], value: unknown): SetupChange {
  const shown = value === undefined ? "absent" : JSON.stringify(value);
  return {
    kind,
    name: `${way.join(".")}: ${shown.length > 60 ? `${shown.slice(0, 57)}...` : shown}`,
    apply: ({ config }) => set(config, way, value),
  };
}

function set(config: Config, way: readonly string[], value: unknown): void {
  let group: Value = config;
  for (const name of way.slice(0, -1)) group = (group[name] ??= {}) as Value;
  const last = way.at(-1)!;
  if (value === undefined) delete group[last];
  else group[last] = value;
}

/** Edits the gateway key with this name. */
export function editKey(name: string, edit: Value): SetupChange {
  return {
    kind: "config",
    name: `key ${name}: ${JSON.stringify(edit)}`,
    apply({ config }) {
      const keys = config["keys"] as Value[];
      config["keys"] = keys.map((key) => (key["name"] === name ? { ...key, ...edit } : key));
    },
  };
}

/** Writes a plugin. */
export function plugin(name: string, text: string): SetupChange {
  return {
    kind: "plugin",
    name: `plugin: ${name}`,
    apply: ({ plugins }) => void (plugins["changed.ts"] = text),
  };
}
