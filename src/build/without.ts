/** A build without some features: `src/features.ts` loses their lines. */
import { join } from "node:path";
import type { BunPlugin } from "bun";
import type { LeftOut } from "../core/left-out.ts";
import { assertDistinct } from "../feature/distinct.ts";
import type { Feature } from "../feature/feature.ts";

/** The list of features, relative to the root of the repository. */
export const LIST = "src/features.ts";
/** The list of their pages in the console. */
export const PAGES = "src/console/own-pages.ts";

/** @throws Error for a name that no feature has, and for a feature that one of the others needs */
export function featuresWithout(
  names: readonly string[],
  features: readonly Feature[],
): { kept: Feature[]; left: Feature[] } {
  const unknown = names.find((name) => !features.some((feature) => feature.name === name));
  if (unknown !== undefined)
    throw new Error(
      `There is no feature "${unknown}"; there are ${features.map(({ name }) => name).join(", ")}.`,
    );
  const kept = features.filter(({ name }) => !names.includes(name));
  assertDistinct(kept);
  return { kept, left: features.filter(({ name }) => names.includes(name)) };
}

/** The list of features without the lines of some. */
export function withoutLines(list: string, names: readonly string[]): string {
  const lines = list.split("\n");
  return lines.filter((line) => !names.some((name) => line.includes(`./features/${name}/`))).join("\n");
}

/** Replaces the list of features, and the names with which the binary says that it lacks one. */
export function withoutFeatures(left: readonly Feature[], root: string): BunPlugin {
  const names = left.map(({ name }) => name);
  return {
    name: "without features",
    setup(builder) {
      builder.onLoad({ filter: /\/src\/features\.ts$/ }, async () => ({
        contents: withoutLines(await Bun.file(join(root, LIST)).text(), names),
        loader: "ts",
      }));
      builder.onLoad({ filter: /\/src\/core\/left-out-names\.ts$/ }, () => ({
        contents: `export const LEFT_OUT = ${JSON.stringify(namesOf(left))};`,
        loader: "ts",
      }));
    },
  };
}

/** Replaces the list of their pages. */
export function withoutPages(left: readonly Feature[], root: string): BunPlugin {
  const names = left.map(({ name }) => name);
  return {
    name: "without pages",
    setup(builder) {
      builder.onLoad({ filter: /\/src\/console\/own-pages\.ts$/ }, async () => ({
        contents: withoutLines(await Bun.file(join(root, PAGES)).text(), names),
        loader: "ts",
      }));
    },
  };
}

function namesOf(left: readonly Feature[]): LeftOut {
  const pairs = (own: (feature: Feature) => readonly { name: string }[]) =>
    Object.fromEntries(left.flatMap((feature) => own(feature).map(({ name }) => [name, feature.name])));
  return {
    sections: pairs(({ section }) => (section ? [section] : [])),
    commands: pairs(({ commands = [] }) => commands),
  };
}
