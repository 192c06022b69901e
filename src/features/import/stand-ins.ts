/** Values with which the written config can be loaded before its variables are set. */
import type { EnvironmentVariable, Kind } from "./environment.ts";

const STAND_INS: Readonly<Record<Kind, (name: string) => string>> = {
  secret: (name) => `stand-in-for-${name}`,
  url: () => "https://stand-in.example",
  text: () => "stand-in",
};

/** @param env variables that are set already */
export function standIns(
  variables: readonly EnvironmentVariable[],
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    variables.map(({ name, kind, value }) => [name, env[name] || value || STAND_INS[kind](name)]),
  );
}
