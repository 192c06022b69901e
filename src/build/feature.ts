/**
 * `bun run feature NAME`: writes the folder of a new feature, with a manifest, an option that is off, a README and a test, and
 * its line in `src/features.ts`.
 */
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { LIST } from "./without.ts";

const ROOT = resolve(import.meta.dir, "../..");

const HELP = `Usage: bun run feature NAME

Writes src/features/NAME and its line in ${LIST}. NAME: small letters and digits, with dashes between words.`;

/** Words that cannot be the name of a constant. */
const RESERVED = [
  "import",
  "export",
  "default",
  "new",
  "delete",
  "switch",
  "case",
  "class",
  "function",
  "in",
];

/** The name of the manifest: `paidOnce` for `paid-once`. */
function constantOf(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Files of rooms with a string that equals the name, which means something else there: the test that no room names a feature
 * reads them.
 */
async function otherNames(name: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const file of new Bun.Glob("src/**/*.{ts,tsx}").scanSync(ROOT)) {
    if (file.startsWith("src/features/") || file.includes("/test/")) continue;
    const text = await Bun.file(join(ROOT, file)).text();
    const names = [...new Set([name, constantOf(name)])].filter((one) =>
      new RegExp(`(["'\`])${one}\\1`).test(text),
    );
    if (names.length > 0) found[file] = names;
  }
  return found;
}

/** The files of a new feature, by their paths in its folder. */
async function filesOf(name: string): Promise<Readonly<Record<string, string>>> {
  const others = await otherNames(name);
  const fill = async (file: string) =>
    (await Bun.file(join(import.meta.dir, "feature-files", file)).text())
      .replaceAll("CONSTANT", constantOf(name))
      .replaceAll("NAME", name);
  return {
    "index.ts": await fill("index.txt"),
    "section.ts": await fill("section.txt"),
    "README.md": await fill("README.txt"),
    [`test/${name}.test.ts`]: await fill("test.txt"),
    ...(Object.keys(others).length > 0 && {
      "test/other-names.json": `${JSON.stringify(others, null, 2)}\n`,
    }),
  };
}

/** The list with one line more, sorted by folder. */
function withLine(list: string, name: string): string {
  const [comment, ...lines] = list.trimEnd().split("\n");
  const line = `export { ${constantOf(name)} } from "./features/${name}/index.ts";`;
  const folder = (text: string) => /features\/([a-z0-9-]+)/.exec(text)![1]!;
  const sorted = [...lines, line].sort((a, b) => (folder(a) < folder(b) ? -1 : 1));
  return `${[comment, ...sorted].join("\n")}\n`;
}

/** @returns a sentence if the name cannot be that of a new feature */
function fault(name: string, list: string): string | undefined {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || RESERVED.includes(name))
    return `"${name}" cannot be the name of a feature: small letters and digits, with dashes between words.`;
  if (existsSync(join(ROOT, "src/features", name)) || list.includes(`{ ${constantOf(name)} }`))
    return `src/features has ${name} already.`;
  return undefined;
}

const [name, ...others] = process.argv.slice(2);
if (name === undefined || others.length > 0 || name === "--help" || name === "-h") {
  console.log(HELP);
  if (name !== "--help" && name !== "-h") process.exitCode = 2;
} else {
  const list = await Bun.file(join(ROOT, LIST)).text();
  const wrong = fault(name, list);
  if (wrong !== undefined) {
    console.error(wrong);
    process.exitCode = 2;
  } else {
    for (const [path, text] of Object.entries(await filesOf(name))) {
      const file = join(ROOT, "src/features", name, path);
      mkdirSync(dirname(file), { recursive: true });
      await Bun.write(file, text);
    }
    await Bun.write(join(ROOT, LIST), withLine(list, name));
    console.log(
      `src/features/${name} is there, with its line in ${LIST}.\nUPDATE=1 bun test test/feature/readme.test.ts test/freeze writes its row and its options into the documents.\nsrc/feature/README.md says what comes next; bun test src/features/${name} runs its tests.`,
    );
  }
}
