/** Combines flags, environment, file and defaults, in this precedence, into one frozen value with the origin of each option. */
import { join, resolve } from "node:path";
import { assertSafe } from "./address.ts";
import { atOnce, inSlices, type Sliced } from "../core/slices.ts";
import { declaredBy } from "./declared.ts";
import type { ConfigDocument } from "./document.ts";
import { ConfigError, type Fault, type Path, writePath } from "./error.ts";
import { isThere } from "./files.ts";
import { Reading, type References } from "./references.ts";
import { type FoundDocument, openFaults, readFiles } from "./include.ts";
import { Secret } from "../core/secret.ts";
import { splitKey } from "./sections/keys.ts";
import { withoutSets } from "./model-sets.ts";
import { deepFreeze, sealSecrets } from "./read.ts";
import type { Option, Options } from "./options.ts";
import { type Config, optionsWith } from "./schema.ts";
import type { Addition, Settling } from "./section.ts";
import { readTextAs, readVariable } from "./variables.ts";
import { findFaults, nameOf, throwFirst } from "./shape.ts";
import type { Environment } from "./substitute.ts";
import type { WatchedFiles } from "./watched.ts";
import { writtenFaults } from "./written-faults.ts";

/** The layer that set a value. */
export interface ValueOrigin {
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
  sources: Readonly<Record<string, ValueOrigin>>;
  /** Position of a value inside an option: `weir.yaml:7`. */
  locate(path: Path): string;
  /** The options that this build has. */
  options: Options;
}

export interface LoadOptions {
  /** Additions of the features in this build. */
  sections?: readonly Addition[];
  /** Values of flags by name with dashes: `{ "--port": "9000", "--config": "weir.yaml" }`. */
  flags?: Readonly<Record<string, string | undefined>>;
  env: Environment;
  /** Absolute path of the working directory. */
  cwd: string;
  /** Called with the name of each file of the config before it is read, so also with that of a broken one. */
  onFile?: ((name: string) => void) | undefined;
  /** Takes all files that the config consists of or names, each before it is read. */
  watched?: WatchedFiles | undefined;
  /** The references of this process. Without them, `${NAME}` and `${file:}` are the only ones. */
  references?: References | undefined;
}

/** The name of the config file, unless `--config` or `WEIR_CONFIG` names another. */
export const CONFIG_FILE = "weir.yaml";

/**
 * A config whose references to stores of secrets are not read: it shows what it would be, and serves nothing.
 * @throws ConfigError for the first mistake, with file, line and path.
 */
export function loadConfig(options: LoadOptions): LoadedConfig {
  return atOnce(finish(atOnce(find(options)), options));
}

/**
 * As {@link loadConfig}, with the values of its references.
 * @throws Error with a sentence for each reference that cannot be read
 */
export async function readConfig(options: LoadOptions): Promise<LoadedConfig> {
  const found = atOnce(find(options));
  await fill(found, options);
  return atOnce(finish(found, options));
}

/** As {@link readConfig}, in slices: a large file does not block the event loop of a running gateway. */
export async function reloadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const found = await inSlices(find(options));
  await fill(found, options);
  return inSlices(finish(found, options));
}

/** The files of a config, with marks in place of references. */
interface Found {
  options: Options;
  document: FoundDocument | undefined;
  reading: Reading | undefined;
}

function* find({
  sections = [],
  flags = {},
  env,
  cwd,
  onFile,
  watched,
  references,
}: LoadOptions): Sliced<Found> {
  const options = optionsWith(sections);
  const file = findFile(flags, env, cwd);
  const reading = references && new Reading(references);
  const document =
    file === undefined
      ? undefined
      : yield* readFiles(file, { env, cwd, schema: options.file, onFile, watched, reading });
  return { options, document, reading };
}

async function fill({ document, reading }: Found, { references, env, cwd }: LoadOptions): Promise<void> {
  if (!references || !reading) return;
  await references.fill(reading.uses, document?.value ?? {}, { env, folder: document?.folder ?? cwd });
}

function* finish(
  { options, document, reading }: Found,
  { flags = {}, env, cwd, watched }: LoadOptions,
): Sliced<LoadedConfig> {
  const references = reading && reading.uses.length > 0 ? reading.references : undefined;
  const written = document?.value ?? {};
  if (reading) reading.references.uses = reading.uses;
  for (const name of references?.off.keys() ?? []) turnOff(written, name, references!);
  if (document) throwFirst(faultsOf(options, written, reading), document.locate, document.files);
  yield;
  const values: Record<string, unknown> = {};
  const sources: Record<string, ValueOrigin> = {};
  const added: Added = new Map();
  for (const option of options.list) {
    const { value, origin } = chooseLayer(option, flags, env, written, document);
    if (layersOver(origin)) checkText(options, option, value, origin.at);
    const inFile = option.schema["x-adds"] && layersOver(origin) ? pick(written, option.path) : undefined;
    const below: readonly unknown[] = Array.isArray(inFile) ? inFile : [];
    assign(values, option.path, below.length > 0 ? [...below, ...(value as unknown[])] : value);
    const at = below.length > 0 ? `${document?.locateAll(option.path)}, ${origin.at}` : origin.at;
    sources[option.path.join(".")] = { ...origin, at };
    if (below.length > 0) added.set(option.path.join("."), { below: below.length, at: origin.at });
  }
  for (const path of openMembers(options, written)) {
    assign(values, path, pick(written, path));
    sources[path.join(".")] = { layer: "file", at: document!.locateAll(path) };
  }
  const locate = (path: Path) => locateIn(path, sources, added, document);
  const config = settle(withoutSets(values), { options, sources, locate, document, cwd, env, references });
  assertSafe(config, hasStore(config, env), locate);
  declaredBy(config, locate);
  const disagreements = options.sections.flatMap((section) =>
    judged(
      () => section.agrees?.(section.of(config), config) ?? [],
      [],
      references?.isOpen(values[section.name]),
    ),
  );
  throwFirst(disagreements, locate, document?.files);
  watchNamed(config, watched);
  return { config, file: document?.name, sources: deepFreeze(sources), locate, options };
}

/** Faults of what the files contain. */
function faultsOf(options: Options, written: Record<string, unknown>, reading: Reading | undefined): Fault[] {
  if (!reading || reading.uses.length === 0) return writtenFaults(options, written);
  const { references } = reading;
  const faults = [
    ...openFaults(options.file, written, reading),
    ...writtenFaults(options, references.expandAll(written)),
  ];
  return references.known(faults, written);
}

/** A provider that may lack its secret serves nothing. */
function turnOff(written: Record<string, unknown>, provider: string, references: References): void {
  const providers = written["providers"] as Record<string, object>;
  const known = Object.entries(providers[provider]!).filter(([, value]) => !references.isOpen(value));
  written["providers"] = { ...providers, [provider]: { ...Object.fromEntries(known), enabled: false } };
}

/** Files that a config names, which are read after it. */
function watchNamed({ tls, providers, plugins }: Config, watched: WatchedFiles | undefined): void {
  if (!watched) return;
  const own = { cert: tls.cert, key: tls.key };
  const certificates = [own, ...Object.values(providers).map((provider) => provider.tls ?? {})];
  for (const path of certificates.flatMap((files) => Object.values(files) as unknown[]))
    if (typeof path === "string") watched.add(path);
  watched.addFolder(plugins.dir);
}

/** Members of groups whose schema does not list them, as the options of plugins. */
function openMembers({ schema }: Options, written: Record<string, unknown>): string[][] {
  return Object.entries(schema.properties).flatMap(([name, group]) => {
    const known: object | undefined = group["properties"];
    if (!known || typeof group["additionalProperties"] !== "object") return [];
    const members = Object.keys((written[name] as object | undefined) ?? {});
    return members.filter((member) => !Object.hasOwn(known, member)).map((member) => [name, member]);
  });
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
): { value: unknown; origin: ValueOrigin } {
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

function layersOver({ layer }: ValueOrigin): boolean {
  return layer === "flag" || layer === "environment";
}

/** @throws ConfigError for the text of a flag or a variable */
function checkText({ sections }: Options, { path, schema }: Option, value: unknown, at: string): void {
  const fault = findFaults(schema, value, path)[0];
  if (fault !== undefined) throw new ConfigError(at, fault.clause, fault.path);
  const whole = path.length === 1 ? sections.find(({ name }) => name === path[0]) : undefined;
  const clause =
    whole?.faults?.(value, {})[0]?.clause ?? (value === "" ? `${nameOf(path)} is empty` : undefined);
  if (clause !== undefined) throw new ConfigError(at, clause, path);
}

/** The options as all layers have set them, and where its parts come from. */
interface Layered {
  options: Options;
  sources: Readonly<Record<string, ValueOrigin>>;
  locate(path: Path): string;
  document: FoundDocument | undefined;
  cwd: string;
  env: Environment;
  /** Absent where the config has no references. */
  references: References | undefined;
}

/** Turns written values into the config: each section settles its own. */
function settle(
  values: Readonly<Record<string, unknown>>,
  { options, sources, locate, document, cwd, env, references }: Layered,
): Config {
  const folder = document?.folder ?? cwd;
  const settling: Settling = {
    folder,
    folderOf: (option) => (sources[option] && layersOver(sources[option]) ? cwd : folder),
    originOf: (option) => sources[option]?.layer,
    locate,
    isInKubernetes: env["KUBERNETES_SERVICE_HOST"] !== undefined,
    values,
  };
  const settled = options.sections.flatMap((section) => {
    const value = values[section.name];
    if (value === undefined) return [];
    const sealed = section.readsSecrets
      ? (references?.expandAll(value) ?? value)
      : sealSecrets(section.schema, value, references);
    const settled = () => (section.settle ? section.settle(sealed, settling) : sealed);
    const effective = judged(settled, sealed, references?.isOpen(value));
    return [[section.name, section.readsSecrets ? withPrevious(effective, value, references) : effective]];
  });
  return deepFreeze(Object.fromEntries(settled) as Config);
}

/** Keys of clients that follow references, with the ones before for a while. */
function withPrevious(keys: unknown, written: unknown, references: References | undefined): unknown {
  if (!references || !Array.isArray(keys) || !Array.isArray(written)) return keys;
  return keys.map((key: object, at) => {
    const entry: unknown = written[at];
    const text = typeof entry === "string" ? splitKey(entry).key : (entry as { key?: string }).key;
    const before = text === undefined ? undefined : references.before(text);
    const sha256 = before && new Secret(before.text.trim()).digest();
    return sha256 === undefined ? key : { ...key, previous: { sha256, until: before!.until } };
  });
}

/** What a rule makes of a value. A rule cannot judge a value that is not known. */
function judged<Value>(rule: () => Value, otherwise: Value, isOpen: boolean | undefined): Value {
  if (!isOpen) return rule();
  try {
    return rule();
  } catch {
    return otherwise;
  }
}

function locateIn(
  path: Path,
  sources: Readonly<Record<string, ValueOrigin>>,
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
