/** Combines flags, environment, file and defaults, in this precedence, into one frozen value with the origin of each option. */
import { join, resolve } from "node:path";
import { assertHostNames, assertProxies, assertSafe, hostFault } from "./address.ts";
import { bareHost } from "../core/host-names.ts";
import { Secret } from "../core/secret.ts";
import { atOnce, inSlices, type Sliced } from "../core/slices.ts";
import { aliasEnds, findMistakes, type Written } from "./checks.ts";
import { declaredBy } from "./declared.ts";
import type { ConfigDocument } from "./document.ts";
import { ConfigError, type Fault, type Path, writePath } from "./error.ts";
import { isThere, pluginFolderFault } from "./files.ts";
import { type FoundDocument, readFiles } from "./include.ts";
import { type KeyEntry, readKeys } from "./keys.ts";
import { withoutSets } from "./model-sets.ts";
import { deepFreeze, sealSecrets } from "./read.ts";
import type { Option, Options } from "./options.ts";
import { type Config, optionsWith } from "./schema.ts";
import type { Section, Settling } from "./section.ts";
import { readMode } from "./schema-sections.ts";
import { readTextAs, readVariable } from "./variables.ts";
import { findFaults, nameOf, throwFirst } from "./shape.ts";
import type { Environment } from "./substitute.ts";
import { settleProviders, settleTls } from "./tls.ts";
import { collectorFaults } from "./telemetry-faults.ts";

/** The layer that set a value. */
export interface Origin {
  layer: "flag" | "environment" | "file" | "default";
  /** `--port`, `WEIR_PORT`, `weir.yaml:7`, `default`. */
  at: string;
}

/** Lists of the file to which a variable adds, by option: how many entries the file has, and the name of the variable. */
type Added = Map<string, { below: number; at: string }>;

export interface LoadedConfig {
  config: Config;
  /** Name of the config file in messages; absent when there is none. */
  file?: string;
  /** Origin of each option by its path (`log.format`). */
  sources: Readonly<Record<string, Origin>>;
  /** Position of a value inside an option: `weir.yaml:7`. */
  locate(path: Path): string;
  /** The options that this build has. */
  options: Options;
}

export interface LoadOptions {
  /** Sections of the features in this build. */
  sections?: readonly Section[];
  /** Values of flags by name with dashes: `{ "--port": "9000", "--config": "weir.yaml" }`. */
  flags?: Readonly<Record<string, string | undefined>>;
  env: Environment;
  /** Absolute path of the working directory. */
  cwd: string;
  /** Called with the name of each file of the config before it is read, so also with that of a broken one. */
  onFile?: ((name: string) => void) | undefined;
}

/** The name of the config file, unless `--config` or `WEIR_CONFIG` names another. */
export const CONFIG_FILE = "weir.yaml";

/** @throws ConfigError for the first mistake, with file, line and path. */
export function loadConfig(options: LoadOptions): LoadedConfig {
  return atOnce(load(options));
}

/** As {@link loadConfig}, in slices: a large file does not block the event loop of a running gateway. */
export function reloadConfig(options: LoadOptions): Promise<LoadedConfig> {
  return inSlices(load(options));
}

function* load({ sections = [], flags = {}, env, cwd, onFile }: LoadOptions): Sliced<LoadedConfig> {
  const options = optionsWith(sections);
  const file = findFile(flags, env, cwd);
  const document =
    file === undefined ? undefined : yield* readFiles(file, { env, cwd, schema: options.file, onFile });
  const written = document?.value ?? {};
  if (document)
    throwFirst(
      [...findMistakes(written as Written), ...sectionFaults(options, written)],
      document.locate,
      document.files,
    );
  yield;
  const values: Record<string, unknown> = {};
  const sources: Record<string, Origin> = {};
  const added: Added = new Map();
  for (const option of options.list) {
    const { value, origin } = chooseLayer(option, flags, env, written, document);
    if (layersOver(origin)) checkText(option, value, origin.at);
    const inFile = option.schema["x-adds"] && layersOver(origin) ? pick(written, option.path) : undefined;
    const below: readonly unknown[] = Array.isArray(inFile) ? inFile : [];
    assign(values, option.path, below.length > 0 ? [...below, ...(value as unknown[])] : value);
    const at = below.length > 0 ? `${document?.locateAll(option.path)}, ${origin.at}` : origin.at;
    sources[option.path.join(".")] = { ...origin, at };
    if (below.length > 0) added.set(option.path.join("."), { below: below.length, at: origin.at });
  }
  const locate = (path: Path) => locateIn(path, sources, added, document);
  const config = settle(withoutSets(values), { options, sources, locate, document, cwd });
  assertSafe(config, hasStore(config, env), locate);
  declaredBy(config, locate);
  assertProxies(config, locate);
  assertHostNames(config, locate);
  assertOneProcess(config, locate);
  assertStore(config, locate);
  const disagreements = options.sections.flatMap(
    (section) => section.agrees?.(section.of(config), config) ?? [],
  );
  throwFirst([...collectorFaults(config), ...disagreements], locate, document?.files);
  return { config, file: document?.name, sources: deepFreeze(sources), locate, options };
}

/** Faults of the sections that the file has. */
function sectionFaults({ sections }: Options, written: Record<string, unknown>): Fault[] {
  return sections.flatMap(({ name, faults }) =>
    faults && written[name] !== undefined ? faults(written[name], written) : [],
  );
}

/** Whether the operator has named a store that may contain keys. */
function hasStore({ state, store }: Config, env: Environment): boolean {
  return store !== undefined || (state ?? env["STATE_DIRECTORY"] ?? "none") !== "none";
}

/** The path of the config file that `--config` or `WEIR_CONFIG` names, else of `weir.yaml` in the working directory. */
function findFile(flags: LoadOptions["flags"], env: Environment, cwd: string): string | undefined {
  const wanted = flags?.["--config"] ?? (env["WEIR_CONFIG"] || undefined);
  if (wanted !== undefined) return resolve(cwd, wanted);
  const usual = join(cwd, CONFIG_FILE);
  if (isThere(usual, CONFIG_FILE)) return usual;
  if (!isThere(join(cwd, "weir.yml"), "weir.yml")) return undefined;
  throw new ConfigError(
    "weir.yml",
    `the config file must be named ${CONFIG_FILE}; rename it, or pass it with --config`,
  );
}

function chooseLayer(
  { path, schema }: Option,
  flags: Readonly<Record<string, string | undefined>>,
  env: Environment,
  written: Record<string, unknown>,
  document: FoundDocument | undefined,
): { value: unknown; origin: Origin } {
  const flag: string | undefined = schema["x-flag"];
  const given = flag === undefined ? undefined : flags[flag];
  if (flag !== undefined && given !== undefined) {
    return { value: readTextAs(schema, flag, given), origin: { layer: "flag", at: flag } };
  }
  const variable: string | undefined = schema["x-env"];
  const text = variable === undefined ? undefined : readVariable(variable, env);
  if (variable !== undefined && text !== undefined) {
    const value = readTextAs(schema, variable, text);
    return { value, origin: { layer: "environment", at: variable } };
  }
  const value = pick(written, path);
  if (value !== undefined && document !== undefined) {
    return { value, origin: { layer: "file", at: document.locateAll(path) } };
  }
  return { value: structuredClone(schema["default"]), origin: { layer: "default", at: "default" } };
}

function layersOver({ layer }: Origin): boolean {
  return layer === "flag" || layer === "environment";
}

function checkText({ path, schema }: Option, value: unknown, at: string): void {
  const fault = findFaults(schema, value, path)[0];
  if (fault !== undefined) throw new ConfigError(at, fault.clause, fault.path);
  const clause =
    path[0] === "host" ? hostFault(String(value)) : value === "" ? `${nameOf(path)} is empty` : undefined;
  if (clause !== undefined) throw new ConfigError(at, clause, path);
}

/** Turns written values into the config: hashes keys, wraps secrets, makes paths absolute, resolves chains of aliases. */
function settle(
  values: Record<string, unknown>,
  {
    options,
    sources,
    locate,
    document,
    cwd,
  }: {
    options: Options;
    sources: Readonly<Record<string, Origin>>;
    locate(path: Path): string;
    document: FoundDocument | undefined;
    cwd: string;
  },
): Config {
  const written = values as unknown as Written & {
    keys: KeyEntry[];
    adminKeys: KeyEntry[];
    host: string;
    plugins: { dir?: string };
    state?: string;
  };
  const keys = readKeys(written.keys, locate);
  const adminKeys = readKeys(written.adminKeys, locate, "adminKeys");
  assertDistinct(keys, adminKeys, locate);
  const layer = sources["plugins.dir"]?.layer;
  const folder = document?.folder ?? cwd;
  /** The folder that a relative path of an option begins at. */
  const baseOf = (option: string) => (sources[option] && layersOver(sources[option]) ? cwd : folder);
  const dir = resolve(baseOf("plugins.dir"), written.plugins.dir ?? "plugins");
  const clause = pluginFolderFault(dir, written.plugins.dir !== undefined);
  if (clause !== undefined)
    throw new ConfigError(
      layer === "default" ? "plugins" : locate(["plugins", "dir"]),
      clause,
      "plugins.dir",
    );
  const aliases = written.aliases ?? {};
  const ends = [...aliasEnds(aliases)].map(([alias, end]) => [alias, end ?? alias]);
  const sealed = sealSecrets(options.schema, { ...values, keys: [], adminKeys: [] }) as Config;
  const settling: Settling = { folder, folderOf: baseOf, locate };
  const settled = options.sections.flatMap((section) =>
    section.settle ? [[section.name, section.settle(section.of(sealed), settling)]] : [],
  );
  return deepFreeze({
    ...sealed,
    ...(Object.fromEntries(settled) as object),
    host: bareHost(written.host),
    keys,
    adminKeys,
    cors: { origins: sealed.cors.origins.map((origin) => origin.toLowerCase()) },
    listen: settleListen(sealed.listen, folder),
    tls: settleTls(sealed.tls, folder, locate),
    providers: settleProviders(sealed.providers, folder, locate),
    aliases: Object.fromEntries(ends) as Record<string, string>,
    plugins: { ...sealed.plugins, dir },
    ...(written.state !== undefined && {
      state: written.state === "none" ? "none" : resolve(baseOf("state"), written.state),
    }),
  });
}

/** @throws ConfigError for a key that is one for calls and one for the admin API */
function assertDistinct(
  keys: Config["keys"],
  adminKeys: readonly { name: string; sha256: string }[],
  locate: (path: Path) => string,
): void {
  for (const [index, { sha256 }] of adminKeys.entries()) {
    const twin = keys.find((key) => key.sha256 === sha256);
    const path = ["adminKeys", index];
    if (twin)
      throw new ConfigError(
        locate(path),
        `adminKeys[${index}] is the same key as ${twin.name} of keys`,
        path,
      );
  }
}

function settleListen({ unix, mode }: Config["listen"], folder: string): Config["listen"] {
  return { ...(unix !== undefined && { unix: resolve(folder, unix) }), mode: readMode(mode) };
}

/** Several processes cannot share a unix socket. @throws ConfigError for options that conflict with it */
function assertOneProcess({ listen, workers, tls }: Config, locate: (path: Path) => string): void {
  if (listen.unix === undefined) return;
  if (workers > 1)
    throw new ConfigError(
      locate(["workers"]),
      `a unix socket requires a single process, but workers is ${workers}; set workers to 1`,
      ["workers"],
    );
  if (tls.cert !== undefined)
    throw new ConfigError(locate(["tls", "cert"]), "TLS is not supported on a unix socket; remove tls", [
      "tls",
    ]);
}

/** @throws ConfigError for a store that is no PostgreSQL database, and for several gateways without one */
function assertStore({ store, cluster }: Config, locate: (path: Path) => string): void {
  const url = store instanceof Secret ? store : store?.url;
  const path = store instanceof Secret ? ["store"] : ["store", "url"];
  if (url && !/^postgres(ql)?:\/\/./.test(url.reveal()))
    throw new ConfigError(locate(path), "the store must be a URL that begins with postgres://", path);
  if (cluster && !url)
    throw new ConfigError(
      locate(["cluster"]),
      "cluster is true, and there is no store that several gateways can share; set store to the URL of a PostgreSQL database",
      ["cluster"],
    );
}

function locateIn(
  path: Path,
  sources: Readonly<Record<string, Origin>>,
  added: Added,
  document: ConfigDocument | undefined,
): string {
  const option = Object.keys(sources).find((name) => {
    const written = writePath(path);
    return written === name || written.startsWith(`${name}.`) || written.startsWith(`${name}[`);
  });
  const origin = option === undefined ? undefined : sources[option];
  const more = option === undefined ? undefined : added.get(option);
  const isInFile = origin?.layer === "file" || (more && Number(path.at(1) ?? 0) < more.below);
  if (isInFile && document !== undefined) return document.locate(path);
  if (more) return more.at;
  return origin?.at ?? "config";
}

function pick(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, step) =>
      typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[step] : undefined,
    value,
  );
}

function assign(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [step = "", ...rest] = path;
  if (rest.length === 0) target[step] = value;
  else assign((target[step] ??= {}) as Record<string, unknown>, rest, value);
}
