/** Which files a config watches, and that it sees them change in the ways in which volumes and editors change them. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { WatchedFiles } from "../../src/config/watched.ts";
import { FIRST } from "../helpers/certificates.ts";
import { Volume } from "../helpers/volume.ts";

const root = mkdtempSync(join(tmpdir(), "weir-watched-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(root, "case-"));
});

const KEY = "weir-test-key-000000001";

/** What the config at `path` consists of; the config may be refused. */
function watch(path: string): WatchedFiles {
  const watched = new WatchedFiles();
  try {
    loadConfig({ flags: { "--config": path }, env: {}, cwd: folder, watched });
  } catch {}
  return watched;
}

/** Whether `change` is seen, and nothing before it. */
function sees(watched: WatchedFiles, change: () => void): boolean {
  expect(watched.now).toBe(watched.read);
  change();
  return watched.now !== watched.read;
}

test("a config map and a secret are seen when their folder is swapped, also for texts of one length", () => {
  const secrets = new Volume(join(folder, "secrets"), { ops: KEY, other: "x" });
  const text = (name: string) =>
    `admin: { keys: [{ name: ${name}, key: "\${file:${secrets.path("ops")}}" }] }`;
  const config = new Volume(join(folder, "config"), { "weir.yaml": text("one") });
  const file = config.path("weir.yaml");
  expect(sees(watch(file), () => config.swap({ "weir.yaml": text("two") }))).toBe(true);
  expect(sees(watch(file), () => secrets.swap({ ops: KEY.replace("1", "2"), other: "x" }))).toBe(true);
});

test("a file that is written anew, replaced, removed or created is seen", () => {
  const file = join(folder, "weir.yaml");
  writeFileSync(file, "port: 1\n");
  expect(sees(watch(file), () => writeFileSync(file, "port: 12\n"))).toBe(true);
  expect(
    sees(watch(file), () => {
      writeFileSync(`${file}.tmp`, "port: 13\n");
      renameSync(`${file}.tmp`, file);
    }),
  ).toBe(true);
  expect(sees(watch(file), () => rmSync(file))).toBe(true);
  expect(sees(watch(file), () => writeFileSync(file, ""))).toBe(true);
});

test("included files, files that a pattern finds anew, and plugins are seen; others are not", () => {
  const file = join(folder, "weir.yaml");
  mkdirSync(join(folder, "conf.d"));
  mkdirSync(join(folder, "plugins"));
  writeFileSync(file, "include: [more.yaml, conf.d/*.yaml]\n");
  writeFileSync(join(folder, "more.yaml"), "");
  writeFileSync(join(folder, "conf.d/a.yaml"), "");
  const changes: [string, boolean][] = [
    ["more.yaml", true],
    ["conf.d/a.yaml", true],
    ["conf.d/b.yaml", true],
    ["plugins/one.ts", true],
    ["conf.d/b.txt", false],
    ["another.yaml", false],
  ];
  for (const [name, wanted] of changes)
    expect([name, sees(watch(file), () => writeFileSync(join(folder, name), "# changed\n"))]).toEqual([
      name,
      wanted,
    ]);
});

test("certificates of the listener and of a provider are seen", () => {
  const texts = { cert: FIRST.cert, key: FIRST.key, ca: FIRST.cert };
  const file = join(folder, "weir.yaml");
  const pathOf = (name: string) => join(folder, `${name}.pem`);
  const tls = { cert: pathOf("cert"), key: pathOf("key") };
  const acme = { speaks: "chat-completions", baseUrl: "https://acme.example", tls: { ca: pathOf("ca") } };
  writeFileSync(file, JSON.stringify({ tls, providers: { acme } }));
  for (const [name, text] of Object.entries(texts)) writeFileSync(pathOf(name), text);
  for (const [name, text] of Object.entries(texts))
    expect([name, sees(watch(file), () => writeFileSync(pathOf(name), `${text}\n`))]).toEqual([name, true]);
});

test("a config that is refused keeps the files of the one before", () => {
  const file = join(folder, "weir.yaml");
  const secret = join(folder, "secret.txt");
  writeFileSync(secret, KEY);
  writeFileSync(file, "keys: ['a:${file:secret.txt}']\n");
  const before = watch(file);
  writeFileSync(file, "keys: [\n");
  const broken = watch(file);
  expect(sees(broken, () => writeFileSync(secret, `${KEY}2`))).toBe(false);
  broken.keep(before);
  expect(sees(broken, () => writeFileSync(secret, `${KEY}22`))).toBe(true);
});
