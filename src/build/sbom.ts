/**
 * The bill of materials of a build in CycloneDX 1.6: the packages whose files the bundler put into the binary, with version and
 * digest from the lockfile. Packages that only tests and types need are not listed.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../core/json.ts";

/** A package of the lockfile. */
export interface Locked {
  name: string;
  version: string;
  /** In the lockfile's notation: `sha512-…`, base64. */
  integrity: string;
}

/** All packages of `bun.lock`. @param text its content: JSON with trailing commas */
export function readLock(text: string): Locked[] {
  const { packages } = JSON.parse(text.replace(/,(\s*[}\]])/g, "$1")) as {
    packages: Record<string, [string, ...unknown[]]>;
  };
  return Object.values(packages).map(([id, ...rest]) => {
    const at = id.lastIndexOf("@");
    const integrity = rest.at(-1);
    return {
      name: id.slice(0, at),
      version: id.slice(at + 1),
      integrity: typeof integrity === "string" ? integrity : "",
    };
  });
}

/** The sorted names of the packages whose files are inputs of a bundle. */
export function packagesOf(inputs: readonly string[]): string[] {
  const names = inputs.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

/**
 * @param inputs paths of the files in the bundle
 * @param root folder of the repository
 * @throws Error if a package of the bundle is not in the lockfile
 */
export function billOfMaterials(inputs: readonly string[], root: string): JsonObject {
  const locked = readLock(readFileSync(join(root, "bun.lock"), "utf8"));
  const { name, version } = manifestOf(root);
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: { type: "application", "bom-ref": `pkg:generic/${name}@${version}`, name, version },
      tools: { components: [{ type: "application", name: "bun", version: Bun.version }] },
    },
    components: [runtime(), ...packagesOf(inputs).map((one) => component(one, locked, root))],
  };
}

/** The Bun runtime, which the binary contains. */
function runtime(): JsonObject {
  const purl = `pkg:npm/bun@${Bun.version}`;
  return { type: "platform", "bom-ref": purl, name: "bun", version: Bun.version, purl };
}

function component(name: string, locked: readonly Locked[], root: string): JsonObject {
  const { version, license } = manifestOf(join(root, "node_modules", name));
  const entry = locked.find((one) => one.name === name && one.version === version);
  if (!entry) throw new Error(`${name} ${version} is in the bundle but not in bun.lock.`);
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const [algorithm = "", digest = ""] = entry.integrity.split("-", 2);
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    purl,
    ...(license !== undefined && { licenses: [{ license: { id: license } }] }),
    hashes: [
      { alg: algorithm.replace("sha", "SHA-"), content: Buffer.from(digest, "base64").toString("hex") },
    ],
  };
}

function manifestOf(folder: string): { name: string; version: string; license?: string } {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    name: string;
    version: string;
    license?: string;
  };
}
