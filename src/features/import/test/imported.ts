/** Configs of other gateways for the tests, and what weir makes of them. */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { builtIn } from "../../../../plugins/index.ts";
import { assemble } from "../../../run/assemble.ts";
import { CORE } from "../../../config/sections/index.ts";
import { loadConfig } from "../../../config/load.ts";
import { readSource } from "../../../config/read-source.ts";
import { type Imported, importConfig, SOURCES } from "../convert.ts";
import { newReferences, OWN_PLUGINS, SECTIONS } from "../../../../test/helpers/features.ts";
import { gatewayOf } from "../check.ts";
import { standIns } from "../stand-ins.ts";
import { fillIn, verify } from "../verify.ts";

const SECTION_NAMES: ReadonlySet<string> = new Set([...CORE, ...SECTIONS].map(({ name }) => name));
const FIXTURES = join(import.meta.dir, "fixtures");
export const providers = builtIn.flatMap((plugin) => plugin.providers ?? []);

export interface Fixture {
  source: string;
  /** `litellm/two-models.yaml`. */
  name: string;
  file: string;
  /** The file of keys beside it. */
  keys?: string;
  /** The file with what weir should write. */
  golden: string;
}

export const fixtures: readonly Fixture[] = Object.keys(SOURCES).flatMap((source) =>
  readdirSync(join(FIXTURES, source))
    .filter((name) => !/\.(keys\.json|weir\.yaml)$/.test(name))
    .sort()
    .map((name) => {
      const file = join(FIXTURES, source, name);
      const plain = file.replace(/\.\w+$/, "");
      const keys = `${plain}.keys.json`;
      return {
        source,
        name: `${source}/${name}`,
        file,
        ...(existsSync(keys) && { keys }),
        golden: `${plain}.weir.yaml`,
      };
    })
    .filter(({ golden }) => isOfBuild(golden)),
);

/** A build may lack features whose sections an import writes. */
function isOfBuild(golden: string): boolean {
  const written = readFileSync(golden, "utf8").matchAll(/^(\w+):/gm);
  return [...written].every(([, section = ""]) => SECTION_NAMES.has(section));
}

export function importFixture({ source, file, keys }: Pick<Fixture, "source" | "file" | "keys">): Imported {
  return importConfig({
    source,
    document: readSource(file, basename(file)),
    ...(keys !== undefined && { keys: readSource(keys, basename(keys)) }),
    providers,
    command: `weir import ${source} ${basename(file)}`,
  });
}

/** Imports the text of a config. */
export function importText(source: string, text: string, keys?: string): Imported {
  return inFolder((folder) => {
    const file = join(folder, source === "litellm" ? "config.yaml" : "config.json");
    writeFileSync(file, text);
    if (keys !== undefined) writeFileSync(join(folder, "keys.json"), keys);
    return importFixture({ source, file, ...(keys !== undefined && { keys: join(folder, "keys.json") }) });
  });
}

/** The import as the command gives it: compared with what the source gateway sends. */
export async function verified(imported: Imported, set: Record<string, string> = {}): Promise<Imported> {
  const env = { ...standIns(imported.variables, set), ...set };
  const { registry } = await load(imported, set);
  return verify(imported, gatewayOf(registry), (text) => fillIn(text, env));
}

/** The registry of the written config, with stand-ins for its variables. @throws if weir would not start with it */
export async function load({ yaml, variables }: Imported, set: Record<string, string> = {}) {
  const env = { ...standIns(variables, set), VERTEX_ACCESS_TOKEN: "token", ...set };
  const loaded = inFolder((folder) => {
    writeFileSync(join(folder, "weir.yaml"), yaml);
    return loadConfig({ env, cwd: folder, sections: SECTIONS, references: newReferences() });
  });
  const { registry } = await assemble(loaded.config, env, loaded.locate, { features: OWN_PLUGINS });
  return { config: loaded.config, registry };
}

function inFolder<Value>(use: (folder: string) => Value): Value {
  const folder = mkdtempSync(join(tmpdir(), "weir-import-test-"));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
