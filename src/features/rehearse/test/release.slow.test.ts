/** The outlines by which releases are compared, and the table that `bun run rehearsal` writes of two builds. */
import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { environmentIn } from "../../../../test/helpers/environment.ts";
import { haveRecordings, NO_RECORDINGS, recordings, vendorsOf } from "../../../../test/helpers/recordings.ts";
import { parseOutlines } from "../keep/files.ts";

const RELEASE = resolve(import.meta.dir, "../release");
const MAIN = resolve(import.meta.dir, "../../../main.ts");
const text = readFileSync(join(RELEASE, "outlines.jsonl"), "utf8");
const { outlines, damaged } = parseOutlines(text);

const folder = mkdtempSync(join(tmpdir(), "weir-release-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("all outlines of the file are read, and there are some of each client format", () => {
  expect(damaged).toBe(0);
  expect(outlines.length).toBeGreaterThan(300);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(300_000);
  const formats = new Set(outlines.map(({ format }) => format));
  expect([...formats].sort()).toEqual(
    ["chat-completions", "gemini", "interactions", "messages", "ollama", "responses"].sort(),
  );
});

/** Words of nine letters and digits or more. */
const wordsOf = (written: string) => new Set(written.match(/[\p{L}\p{N}]{9,}/gu) ?? []);

/** Words of the formats: the code that reads them has them. */
function knownWords(): Set<string> {
  const sources = resolve(import.meta.dir, "../../..");
  const files = ["formats/**/*.ts", "features/rehearse/outline/*.ts"].flatMap((pattern) => [
    ...new Bun.Glob(pattern).scanSync(sources),
  ]);
  return wordsOf(files.map((file) => readFileSync(join(sources, file), "utf8")).join("\n"));
}

const APIS = ["chat", "messages", "bedrock_invoke", "responses", "gemini", "gemini_interactions", "ollama"];

test.skipIf(!haveRecordings)(
  `no word of a recorded request is in the file${haveRecordings ? "" : `: ${NO_RECORDINGS}`}`,
  () => {
    const known = knownWords();
    const all = APIS.flatMap((api) =>
      vendorsOf(api).flatMap((vendor) => recordings({ api, vendors: [vendor] })),
    );
    const requests = new Map(all.map(({ id, request }) => [`req_${id}`, request]));
    const found: string[] = [];
    for (const { model, ...outline } of outlines) {
      const { body, headers } = requests.get(outline.call)!;
      const theirs = wordsOf(JSON.stringify([body, headers]));
      // The id of a recording and the names of models are not of its text.
      const kept = JSON.stringify({ ...outline, call: "", body: { ...outline.body, model: "" } });
      for (const word of wordsOf(kept))
        if (theirs.has(word) && !known.has(word)) found.push(`${outline.call}: ${word}`);
    }
    expect(found).toEqual([]);
  },
);

/** A build of this source, whose output goes through a filter. */
function build(name: string, filter = ""): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n'${process.execPath}' '${MAIN}' "$@"${filter}\n`);
  chmodSync(path, 0o755);
  return path;
}

function rehearsal(old: string, next: string) {
  const out = join(folder, "out.md");
  rmSync(out, { force: true });
  const command = [process.execPath, join(RELEASE, "main.ts"), old, next, "--out", out, "--calls", "700"];
  const ran = Bun.spawnSync(command, { cwd: folder, env: environmentIn(folder), stderr: "pipe" });
  const said = ran.stderr.toString();
  return { code: ran.exitCode, said, text: ran.exitCode === 0 ? readFileSync(out, "utf8") : "" };
}

test("two equal builds change nothing", () => {
  const { code, said, text: report } = rehearsal(build("old"), build("new"));
  expect([code, said]).toEqual([0, ""]);
  expect(report).toStartWith("## What changes for calls\n\n700 calls that clients sent");
  expect(report).toContain(", 0 change");
  expect(report).not.toContain("| cause |");
}, 120_000);

test("a build that asks another address is seen, with those whom it concerns", () => {
  const other = build(
    "other",
    ` | sed 's|https://api.anthropic.com/v1/messages|https://api.anthropic.com/v2/messages|'`,
  );
  const { code, text: report } = rehearsal(build("old"), other);
  expect(code).toBe(0);
  expect(report).toMatch(/\d+ are the same, [1-9]\d* change/);
  expect(report).toMatch(/^\| target \| \d+ \| .*messages → anthropic.* \| `address of anthropic\/.*` \|$/m);
}, 120_000);

test("a release without the command is no failure, and a new build without it is one", () => {
  const none = join(folder, "none");
  writeFileSync(none, "#!/bin/sh\nexit 64\n");
  chmodSync(none, 0o755);
  expect(rehearsal(none, build("new"))).toMatchObject({
    code: 0,
    text: "## What changes for calls\n\nThe release before has no `weir rehearse`, so it cannot be compared.\n",
  });
  const failed = rehearsal(build("old"), none);
  expect(failed.code).toBe(1);
  expect(failed.said).toContain("does not know weir rehearse");
}, 120_000);
