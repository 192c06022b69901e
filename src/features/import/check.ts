/** Loads what `weir import` made, and compares what it would send with what the source gateway sends. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../config/error.ts";
import { CONFIG_FILE, loadConfig } from "../../config/load.ts";
import type { Registry } from "../../gateway/routing/registry.ts";
import { assemble } from "../../run/assemble.ts";
import type { Context } from "../../cli/command.ts";
import type { Imported } from "./convert.ts";
import { standIns } from "./stand-ins.ts";
import { fillIn, type MadeGateway, verify } from "./verify.ts";

/** Most entries of the result that are left out because weir would not start with them. */
const MOST_LEFT_OUT = 50;

/** The environment, and what the features of this build add. */
type Build = Pick<Context, "env" | "sections" | "ownPlugins" | "references">;

/**
 * Loads the result as `weir check --offline` does, with stand-ins for variables that are not set, leaves out entries with which
 * weir would not start, and compares what it would send with what the source gateway sends.
 * @returns `faults`: why weir would not start with it
 */
export async function checkResult(
  imported: Imported,
  build: Build,
): Promise<{ imported: Imported; faults: string[] }> {
  let rest = imported;
  for (let left = 0; ; left++) {
    const loaded = await tryLoad(rest, build);
    if (!(loaded instanceof Error)) {
      const { registry, environment } = loaded;
      return {
        imported: verify(rest, gatewayOf(registry), (text) => fillIn(text, environment)),
        faults: [],
      };
    }
    const [section, entry] = entryAt(loaded);
    if (section === undefined || entry === undefined || left === MOST_LEFT_OUT)
      return { imported: rest, faults: [loaded.message] };
    rest = rest.without(section, entry, clauseOf(loaded as ConfigError));
  }
}

/** The request that a gateway would send. */
export function gatewayOf(registry: Registry): MadeGateway {
  return {
    off: registry.off.map(({ provider, reason }) => ({ name: provider.name, reason })),
    sending(name, format, does) {
      const { choices, fallbacks } = registry.plan(name, format, does);
      return [...choices, ...fallbacks.flat()].map(({ target: { deployment, provider, model, url } }) => ({
        ...{ model, url },
        ...(!deployment.authorizer && { headers: { ...provider.headers, ...deployment.credentials } }),
      }));
    },
  };
}

async function tryLoad({ yaml, variables }: Imported, { env, sections, ownPlugins, references }: Build) {
  const folder = mkdtempSync(join(tmpdir(), "weir-import-"));
  try {
    writeFileSync(join(folder, CONFIG_FILE), yaml, { mode: 0o600 });
    const environment = standIns(variables, env);
    const { config, locate } = loadConfig({ env: environment, cwd: folder, sections, references });
    const { registry } = await assemble(config, environment, locate, { features: ownPlugins });
    return { registry, environment };
  } catch (fault) {
    return fault instanceof Error ? fault : new Error(String(fault));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The section and the entry of it with a fault: `providers.acme.baseUrl`, `aliases["a.b"]`. */
function entryAt(fault: Error): [section?: string, entry?: string] {
  const path = fault instanceof ConfigError ? fault.path : "";
  const [, section, plain, quoted] = ENTRY.exec(path) ?? [];
  return [section, plain ?? (quoted === undefined ? undefined : (JSON.parse(`"${quoted}"`) as string))];
}

const ENTRY =
  /^(providers|aliases|routes|fallbacks|prices|rates|budgets)(?:\.([\w-]+)|\["((?:[^"\\]|\\.)*)"\])/;

/** The fault, without the position and the path. */
function clauseOf({ message, at, path }: ConfigError): string {
  return message.replace(`${at}: `, "").replace(` (at ${path}).`, "");
}
