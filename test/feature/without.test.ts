/** Builds without a feature: each lacks its commands and sections, says so, and is smaller. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import type { BunPlugin } from "bun";
import { featuresWithout, LIST, withoutFeatures, withoutLines } from "../../src/build/without.ts";
import { section } from "../../src/config/section.ts";
import type { Feature } from "../../src/feature/feature.ts";
import { ROOT } from "../helpers/documents.ts";
import { environmentIn } from "../helpers/environment.ts";
import { FEATURES } from "../helpers/commands.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-without-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The console takes longest to bundle, and has no part in this. */
const withoutConsole: BunPlugin = {
  name: "without console",
  setup(builder) {
    builder.onLoad({ filter: /\/src\/console\/index\.html$/ }, () => ({ contents: "", loader: "text" }));
  },
};

/** Bundles weir without features. @returns its size, and what runs it */
async function bundle(left: readonly Feature[]) {
  const outdir = join(folder, left.map(({ name }) => name).join("-") || "all");
  const built = await Bun.build({
    ...{ entrypoints: [join(ROOT, "src/main.ts")], outdir, target: "bun", splitting: true, format: "esm" },
    external: ["file-type"],
    plugins: [withoutFeatures(left, ROOT), withoutConsole],
  });
  const run = (...args: string[]) => {
    const child = Bun.spawnSync([process.execPath, join(outdir, "main.js"), ...args], {
      cwd: folder,
      env: environmentIn(folder),
    });
    return { code: child.exitCode, out: child.stdout.toString(), err: child.stderr.toString() };
  };
  return { size: built.outputs.reduce((sum, { size }) => sum + size, 0), run };
}

const full = bundle([]);

test.each(FEATURES.map((feature) => [feature.name, feature] as const))(
  "a build without %s has nothing of it",
  async (name, { commands = [], section }) => {
    const [whole, rest] = await Promise.all([full, bundle(featuresWithout([name], FEATURES).left)]);
    expect(rest.size).toBeLessThan(whole.size);
    const [all, help] = [whole.run("man").out, rest.run("man").out];
    for (const command of commands) {
      expect(all).toContain(`.SS weir ${command.name}`);
      expect(help).not.toContain(`.SS weir ${command.name}`);
      expect(rest.run(...command.name.split(" "))).toEqual({
        ...{ code: 2, out: "" },
        err: `weir: ${command.name} is not in this build (made --without ${name})\n`,
      });
    }
    const properties = (text: string) => Object.keys(JSON.parse(text).properties);
    const schema = properties(rest.run("config", "schema").out);
    expect(schema).toEqual(
      properties(whole.run("config", "schema").out).filter((key) => key !== section?.name),
    );
  },
  120_000,
);

test("a config with a section of a feature that the build left out is refused with its name", async () => {
  const { run } = await bundle([{ name: "words", section: section("words", Type.Object({}), {}) }]);
  await Bun.write(join(folder, "left.yaml"), "words: {}\n");
  expect(run("check", "--offline", "--config", "left.yaml").err).toContain(
    "words is not in this build (made --without words)",
  );
}, 120_000);

test("the list loses the lines of the features, and no other", async () => {
  const list = await Bun.file(join(ROOT, LIST)).text();
  const [gone, next] = [FEATURES[0]!.name, FEATURES[1]!.name];
  expect(withoutLines(list, [gone]).split("\n").length).toBe(list.split("\n").length - 1);
  expect(withoutLines(list, [gone])).toContain(`./features/${next}/`);
  expect(withoutLines(list, ["no"])).toBe(list);
});

test("a name of no feature and a feature that another one needs are refused", () => {
  const features = [{ name: "count" }, { name: "words", needs: ["count"] }];
  expect(() => featuresWithout(["nix"], features)).toThrow(
    'There is no feature "nix"; there are count, words.',
  );
  expect(() => featuresWithout(["count"], features)).toThrow(
    "the feature words needs the feature count, which is not in this build",
  );
  expect(featuresWithout(["count", "words"], features).kept).toEqual([]);
});
