/** weir's own side of a look: what of the config, the plugins and the version a provider can notice. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../core/json.ts";
import type { Target } from "../../core/provider.ts";
import { plugins as pluginsSection } from "../../config/sections/plugins.ts";
import { prices } from "../../config/sections/prices.ts";
import { providers } from "../../config/sections/providers.ts";
import { VERSION } from "../../process/version.ts";
import { canonical, type OwnSide, sha256 } from "./observation.ts";

/** Members of a provider in the config, at any depth, whose values may be credentials: their names count. */
const NAMES_ALONE = new Set(["headers", "apiKey", "secrets", "credentials", "env"]);

/**
 * @param target that a call of the look was sent to
 * @param requests hash of what was sent, by question
 */
export function ownSide(
  config: object,
  target: Target | undefined,
  requests: Readonly<Record<string, string>>,
): OwnSide {
  const parts = target ? partsOf(config, target) : {};
  return {
    ...{ version: VERSION, plugins: pluginsHash(pluginsSection.of(config).dir) },
    ...{ provider: sha256(canonical(parts)), parts, requests },
  };
}

function partsOf(
  config: object,
  { provider, deployment, traits, format, lane, url }: Target,
): Record<string, string> {
  const written = Object.entries(providers.of(config)[provider.name] ?? {}).map(
    ([name, value]) => [`config.${name}`, textOf(withoutSecrets(name, value))] as const,
  );
  const { baseUrl, variables, tls } = deployment;
  return {
    ...Object.fromEntries(written),
    ...{ baseUrl: withoutQuery(baseUrl), url: withoutQuery(url), format, lane },
    headers: textOf(Object.keys(provider.headers ?? {}).sort()),
    traits: textOf(traits ?? provider.traits ?? {}),
    variables: textOf(namesIn(variables ?? {})),
    // What the list of models costs is joined with them.
    prices: textOf(prices.of(config)),
    tls: textOf(Object.keys(tls ?? {}).sort()),
  };
}

function withoutSecrets(name: string, value: unknown): unknown {
  if (NAMES_ALONE.has(name)) return namesIn(value);
  if (Array.isArray(value)) return value.map((item) => withoutSecrets("", item));
  if (typeof value !== "object" || value === null || value.constructor !== Object) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => [member, withoutSecrets(member, inner)]),
  );
}

function namesIn(value: unknown): unknown {
  return typeof value === "object" && value !== null ? Object.keys(value).sort() : typeof value;
}

/** Secrets write themselves as stars. */
function textOf(value: unknown): string {
  return canonical(JSON.parse(JSON.stringify(value) ?? "null") as Json);
}

/** Some hosts want a credential in the query. */
function withoutQuery(url: string): string {
  return url.replace(/\?.*$/s, "");
}

/** Hash of the names and contents of all files there; of nothing, if there is no folder. */
export function pluginsHash(folder: string): string {
  let files: string[];
  try {
    files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes("node_modules"))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch {
    files = [];
  }
  return sha256(files.map((file) => `${file.slice(folder.length)} ${sha256(readFileSync(file))}`).join("\n"));
}
