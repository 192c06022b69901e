/** What is in the binary, where it came from, and that the same sources make the same binary. */
import { expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { packagesOf, readLock } from "../../src/build/sbom.ts";
import { DOCUMENTS } from "../helpers/documents.ts";
import { buildBinary } from "./armour.ts";
import { goal } from "./goals.ts";

const ROOT = resolve(import.meta.dir, "../..");
const LOCK = readFileSync(join(ROOT, "bun.lock"), "utf8");

interface Component {
  name: string;
  version: string;
  purl: string;
  hashes?: { alg: string; content: string }[];
}

interface Materials {
  bomFormat: string;
  specVersion: string;
  components: Component[];
}

/** All that a build needs to be installed. */
const SHIPPED = [
  "@sinclair/typebox",
  "cookie",
  "elysia",
  "exact-mirror",
  "fast-decode-uri-component",
  "memoirist",
  "preact",
  "yaml",
];

/** What the build runs, and the binary does not contain. */
const TOOLS = ["terser", "@jridgewell"];

interface Build {
  digest: string;
  materials: Materials;
}

/** Builds in a copy of the sources elsewhere, so that no path of this machine can make the difference. */
function buildIn(folder: string): Build {
  for (const name of ["src", "plugins", "package.json", "bun.lock", "tsconfig.json"])
    Bun.spawnSync(["cp", "-r", join(ROOT, name), folder]);
  // The binary contains the documents.
  for (const path of DOCUMENTS) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(ROOT, path), join(folder, path));
  }
  for (const name of [...SHIPPED, ...TOOLS]) {
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
    Bun.spawnSync(["cp", "-r", join(ROOT, "node_modules", name), join(folder, "node_modules", name)]);
  }
  const built = Bun.spawnSync([process.execPath, "src/build/main.ts"], { cwd: folder });
  if (built.exitCode !== 0) throw new Error(built.stderr.toString());
  return builtIn(folder);
}

/** What a build left in a folder. */
function builtIn(folder: string): Build {
  return {
    digest: new Bun.CryptoHasher("sha256").update(readFileSync(join(folder, "dist/weir"))).digest("hex"),
    materials: JSON.parse(readFileSync(join(folder, "dist/weir.cdx.json"), "utf8")) as Materials,
  };
}

const SCRIPTS = ["preinstall", "install", "postinstall", "prepare"];

goal(
  44,
  "supply chain",
  "≤ 15 runtime packages, 0 install scripts, all with digests, the bill of materials complete, two builds identical",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "weir-build-"));
    try {
      buildBinary();
      const builds = [builtIn(ROOT), buildIn(folder)];
      const components = builds[0]!.materials.components.filter(({ name }) => name !== "bun");
      const scripted = components.filter(({ name }) => {
        const manifest = JSON.parse(
          readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8"),
        ) as {
          scripts?: Record<string, string>;
        };
        // npm runs `prepare` for sources from git only, and there are none of those.
        return SCRIPTS.slice(0, 3).some((script) => manifest.scripts?.[script] !== undefined);
      });
      const unhashed = components.filter(
        ({ hashes }) => hashes?.[0]?.alg !== "SHA-512" || hashes[0].content.length !== 128,
      );
      const same = builds[0]!.digest === builds[1]!.digest;
      return {
        measured: `${components.length} packages (${components.map(({ name, version }) => `${name} ${version}`).join(", ")}), ${scripted.length} with install scripts, ${unhashed.length} without a digest; two builds in two folders ${same ? "identical" : "differ"}`,
        holds:
          components.length > 0 &&
          components.length <= 15 &&
          scripted.length === 0 &&
          unhashed.length === 0 &&
          same,
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  300_000,
);

test("every package of the lockfile comes from the registry and has a digest; none may run scripts", () => {
  const packages = readLock(LOCK);
  expect(packages.length).toBeGreaterThan(10);
  for (const { name, version, integrity } of packages) {
    expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+/)]);
    expect([name, integrity]).toEqual([name, expect.stringMatching(/^sha512-[A-Za-z0-9+/]{86}==$/)]);
  }
  expect(LOCK).not.toMatch(/git\+|github:|https?:|file:|link:/);
  expect(LOCK).toContain('"trustedDependencies": []');
});

test("dependencies are named by exact versions", () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<
    string,
    Record<string, string>
  >;
  for (const group of ["dependencies", "devDependencies"])
    for (const [name, version] of Object.entries(manifest[group] ?? {}))
      expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
});

test("packages are read out of paths of either depth", () => {
  expect(
    packagesOf([
      "src/a.ts",
      "node_modules/yaml/dist/x.js",
      "node_modules/@a/b/c.js",
      "node_modules/x/node_modules/y/z.js",
    ]),
  ).toEqual(["@a/b", "y", "yaml"]);
});

test("what is installed is what the lockfile names", () => {
  for (const { name, version } of readLock(LOCK)) {
    const manifest = join(ROOT, "node_modules", name, "package.json");
    // Packages of other systems are not installed here, and one version of a name may be nested.
    if (!existsSync(manifest)) continue;
    const installed = (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
    expect(
      readLock(LOCK)
        .filter((one) => one.name === name)
        .map((one) => one.version),
    ).toContain(installed);
    expect(version).toBeString();
  }
});
