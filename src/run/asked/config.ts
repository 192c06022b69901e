/** A worker's answers to the console about its config: each option with its origin, what a reload would change, the file. */
import { readFileSync } from "node:fs";
import { reloadGateway } from "../reload-running.ts";
import { runningGateways } from "../run-file.ts";
import { FIXED } from "../../config/fixed.ts";
import { maskTexts } from "../../config/mask-text.ts";
import type { Options } from "../../config/options.ts";
import { CORE_OPTIONS, type Config } from "../../config/schema.ts";
import { adminKeysOf } from "../../config/sections/operator.ts";
import type { ConfigSource, EffectiveConfig, Reloaded } from "../../operator/config.ts";
import type { Frozen } from "../../operator/contract.ts";
import type { Inspected } from "./inspected.ts";

/** Most characters of the config files that are shown. */
const MAX_TEXT = 1_000_000;

/** @throws Error with one sentence */
export function inspectConfig(what: "config" | "config-source" | "reload", inspected: Inspected): unknown {
  if (what === "config") return describeConfig(inspected);
  return what === "reload" ? reload(inspected) : readSource(inspected);
}

async function describeConfig(inspected: Inspected): Promise<Frozen<EffectiveConfig>> {
  const { config, settings, since } = inspected;
  const { file, sources = {}, options: known = CORE_OPTIONS } = settings;
  const options = optionsOf(config, known).map(({ path, value, standard }) => {
    const origin = sources[path] ?? { layer: "default", at: "default" };
    return {
      path,
      value,
      ...(standard !== undefined && { default: standard }),
      isDefault: origin.layer === "default" || isSame(value, standard),
      source: origin.layer,
      ...(origin.layer !== "default" && { where: origin.at }),
    };
  });
  const next = await changesOf(inspected);
  return {
    ...(file !== undefined && { file }),
    loadedAt: since,
    options: options.sort((a, b) => Number(a.isDefault) - Number(b.isDefault)),
    ...next,
  };
}

/** The changes of a reload, or why it would fail. */
async function changesOf({ config, settings }: Inspected) {
  if (!settings.reread) return { changes: [] };
  try {
    const next = await settings.reread();
    const { options = CORE_OPTIONS } = settings;
    const written = optionsOf(next.config, options);
    const changes = optionsOf(config, options).flatMap(({ path, value }, index) => {
      const onDisk = written[index]!.value;
      if (isSame(value, onDisk) || isFree(path)) return [];
      const needsRestart = Object.entries(FIXED).some(
        ([name, read]) => path.split(".")[0] === name && read(config) !== read(next.config),
      );
      return [{ path, running: value ?? null, onDisk: onDisk ?? null, needsRestart }];
    });
    return { changes };
  } catch (cause) {
    return { changes: [], fault: cause instanceof Error ? cause.message : String(cause) };
  }
}

/** A worker listens on the port that its supervisor has found. */
function isFree(path: string): boolean {
  return path === "port";
}

interface OptionValue {
  path: string;
  value: unknown;
  standard: unknown;
}

/** Secrets write themselves as `***`, and keys by their names. */
function optionsOf(config: Config, { list }: Options): OptionValue[] {
  return list.map(({ path, schema }) => ({
    path: path.join("."),
    value: plain(withoutDigests(valueAt(config, path), path[0]!)),
    standard: plain(schema["default"]),
  }));
}

/** The value of an option; keys in it have no digests. */
function withoutDigests(value: unknown, option: string): unknown {
  const listed = (keys: unknown) => (keys as { sha256: string }[]).map(({ sha256: _, ...key }) => key);
  if (option === "keys" || option === "adminKeys") return listed(value);
  const hasKeys = option === "admin" && typeof value === "object" && value !== null && "keys" in value;
  return hasKeys && value.keys !== undefined ? { ...value, keys: listed(value.keys) } : value;
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}

function valueAt(config: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, step) => (value as Record<string, unknown> | undefined)?.[step],
    config,
  );
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

async function readSource({ config, settings }: Inspected): Promise<Frozen<ConfigSource>> {
  const { file } = settings;
  if (file === undefined) throw new Error("weir runs without a config file");
  // Those on the disk, as far as weir reads them before a mistake, and those that run.
  const names = new Set([file]);
  const written = await settings.reread?.((name) => names.add(name)).catch(() => undefined);
  if (!written) for (const name of config.include) names.add(name);
  const configs = [config, ...(written ? [written.config] : [])];
  const digests = configs.flatMap((one) =>
    [...one.keys, ...adminKeysOf(one).map(({ key }) => key)].map(({ sha256 }) => sha256),
  );
  const found = [...names].flatMap((name) => readFile(name, name === file));
  const texts = maskTexts(
    found.map(({ text }) => text),
    { configs, digests, schema: settings.options?.file },
  );
  const [main, ...included] = found.map(({ name }, index) => ({ file: name, text: texts[index]! }));
  return { ...main!, included: withinSize(included, MAX_TEXT - main!.text.length) };
}

/** @param required false: a file that cannot be read is absent, and the fault of the config names it */
function readFile(name: string, required: boolean): { name: string; text: string }[] {
  try {
    return [{ name, text: readFileSync(name, "utf8").slice(0, MAX_TEXT) }];
  } catch (fault) {
    if (required) throw fault;
    return [];
  }
}

/** The files, cut at a limit of characters over all of them: of the file that exceeds it, the beginning. */
function withinSize<File extends { text: string }>(files: readonly File[], size: number): File[] {
  let left = size;
  return files.map((file) => {
    const text = file.text.slice(0, Math.max(0, left));
    left -= text.length;
    return { ...file, text };
  });
}

async function reload({ settings }: Inspected): Promise<Reloaded> {
  const entry = runningGateways(settings.env).find(({ pid }) => pid === process.pid || pid === process.ppid);
  if (!entry) throw new Error("the gateway has no run file, so it cannot reload itself; send it SIGHUP");
  const outcome = await reloadGateway(entry);
  if (outcome === undefined)
    throw new Error("the gateway did not report the result of the reload in time; see its log");
  return { ok: outcome.ok, message: outcome.message };
}
