/** Makes a side of a rehearsal from a config of this machine. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Context } from "../../../cli/command.ts";
import { foreseenBy } from "../../../cli/foresees.ts";
import { loadConfig } from "../../../config/load.ts";
import type { Config } from "../../../config/schema.ts";
import type { Provider } from "../../../core/provider.ts";
import { isVariableList, variableName } from "../../../core/settings.ts";
import { type AddedPlugins, type Assembled, assemble, assertLoaded } from "../../../run/assemble.ts";
import { ReadHooks } from "./read-hooks.ts";
import { Side } from "./side.ts";

/** In place of a credential that this machine does not have: a rehearsal sends nothing. */
const STAND_IN = "rehearsal";

/** By it another build makes the same hashes of credentials. */
export const SALT_VARIABLE = "REHEARSAL_SALT";
export const SALT = randomUUID();

type Environment = Context["env"];
type ConfigContext = Pick<Context, "env" | "cwd" | "sections" | "references">;
type ConfigFlags = Readonly<Record<string, string | undefined>>;

export interface MadeSide {
  readonly side: Side;
  readonly config: Config;
  /** Providers whose credentials are not here. */
  readonly assumed: readonly string[];
}

/**
 * @param flags those of the config
 * @param used names of the providers that answered the calls: they are on, also where their credentials are elsewhere
 * @throws ConfigError and others as a start of the gateway
 */
export async function makeSide(
  context: ConfigContext & Pick<Context, "ownPlugins" | "foresees">,
  flags: ConfigFlags,
  used: ReadonlySet<string>,
): Promise<MadeSide> {
  const { ownPlugins, foresees } = context;
  const { config, locate, env } = loaded(context, flags);
  const read = new ReadHooks();
  const added = { features: ownPlugins, watch: read.plugin };
  const first = await assemble(config, env, locate, added);
  const wanted = new Set([...used, ...Object.keys(config.providers)]);
  const off = first.registry.off.filter(({ provider, turnedOff }) => wanted.has(provider.name) && !turnedOff);
  const parts = off.length === 0 ? first : await assembleWith(config, env, off, locate, added);
  assertLoaded(parts.broken, true);
  const foresee = await foreseenBy(foresees, config);
  return {
    side: new Side(config, parts, { read, foresee, salt: context.env[SALT_VARIABLE] ?? SALT }),
    config,
    assumed: off.map(({ provider }) => provider.name),
  };
}

/** The config alone. */
export function configOf(context: ConfigContext, flags: ConfigFlags): Config {
  return loaded(context, flags).config;
}

/** A variable that the config names and that is not set gets a value: a rehearsal sends no credential. */
function loaded({ env, cwd, sections, references }: ConfigContext, flags: ConfigFlags) {
  const files: string[] = [];
  const load = (environment: Environment) =>
    loadConfig({
      flags,
      env: environment,
      cwd,
      sections,
      references,
      onFile: (name) => void files.push(name),
    });
  try {
    return { ...load(env), env };
  } catch (thrown) {
    const named = files
      .filter((name) => existsSync(resolve(cwd, name)))
      .flatMap((name) => variablesIn(resolve(cwd, name)));
    const missing = named.filter((name) => !env[name]).map((name) => [name, STAND_IN] as const);
    if (missing.length === 0) throw thrown;
    const filled = { ...env, ...Object.fromEntries(missing) };
    return { ...load(filled), env: filled };
  }
}

/** `${NAME}`, without a default. */
function variablesIn(file: string): string[] {
  return [...readFileSync(file, "utf8").matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name]) => name!);
}

function assembleWith(
  config: Config,
  env: Environment,
  off: readonly { provider: Provider }[],
  locate: Parameters<typeof assemble>[2],
  plugins: AddedPlugins,
): Promise<Assembled> {
  const missing = off.flatMap(({ provider }) => variablesOf(provider)).map((name) => [name, STAND_IN]);
  return assemble(config, { ...Object.fromEntries(missing), ...env }, locate, plugins);
}

/** The environment variables of a provider's credentials. */
function variablesOf({ name, apiKey, credentials = [] }: Provider): string[] {
  const set = credentials.find(isVariableList) ?? [];
  return [apiKey ?? variableName(name, "API_KEY"), ...set];
}
