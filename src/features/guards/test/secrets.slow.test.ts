/** weir finds the secrets that gitleaks finds: the Go program judges the values of its own tests, and 2,000 source files. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { detectorOf } from "../detect/built-in.ts";
import { Gitleaks, sourceTexts, writeFiles } from "./gitleaks.ts";

const ROOT = join(import.meta.dir, "../../../..");
const folder = mkdtempSync(join(tmpdir(), "weir-gitleaks-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SOURCES = 2_000;

/** Why weir says more or less than gitleaks. */
const DIFFERENCES: readonly (readonly [
  reason: string,
  applies: (rule: string, secret: string) => boolean,
])[] = [
  [
    "weir does not need the word Airtable or Facebook next to tokens of theirs",
    (rule) => /^(?:airtable-personnal|facebook-access)/.test(rule),
  ],
  [
    "40 hexadecimal digits are a hash, with or without the word Sourcegraph near",
    (rule, secret) => rule === "sourcegraph-access-token" && /^[0-9a-f]{40}$/i.test(secret),
  ],
  ["the secret is the whole token, not a part of its header", (rule) => rule === "jwt-base64"],
  ["the character behind a token is no part of it", (rule) => rule === "sentry-org-token"],
  ["weir looks for its own keys", (rule) => rule === "weir-key"],
];

/** Of a token in front of an escaped line end gitleaks reports that end, too, if the token does not end with `=`. */
function named(rule: string, secret: string): string {
  return `${rule} ${rule === "jwt" ? secret.replace(/\\[nr]$/, "") : secret}`;
}

test("gitleaks and weir say the same of values and sources", async () => {
  const gitleaks = await Gitleaks.build(folder);
  if (!gitleaks) return console.log("skipped: gitleaks is built with Go, from its module proxy");
  const values = await gitleaks.values();
  expect(values.length).toBeGreaterThan(800);
  const folders = [join(ROOT, "src"), join(ROOT, "node_modules"), gitleaks.module];
  const sources = folders.flatMap((name) => sourceTexts(name, SOURCES / 2)).slice(0, SOURCES);
  const texts = [...values, ...sources];
  const files = join(folder, "files");
  writeFiles(files, texts);
  const theirs = new Map<number, Set<string>>(texts.map((_, at) => [at, new Set()]));
  for (const { RuleID, Secret, File } of await gitleaks.find(files))
    theirs.get(Number.parseInt(basename(File), 10))!.add(named(RuleID, Secret));
  const secrets = detectorOf("secrets");
  const different: string[] = [];
  const explained = new Map<string, number>();
  let agreed = 0;
  const compare = (sign: string, one: string) => {
    const at = one.indexOf(" ");
    const known = DIFFERENCES.find(([, applies]) => applies(one.slice(0, at), one.slice(at + 1)));
    if (known) explained.set(known[0], (explained.get(known[0]) ?? 0) + 1);
    else different.push(`${sign} ${one}`);
  };
  for (const [at, text] of texts.entries()) {
    const given = theirs.get(at)!;
    const ours = new Set(
      secrets.find(text).map(({ start, end, rule }) => named(rule!, text.slice(start, end))),
    );
    for (const one of ours) if (given.has(one)) agreed++;
    for (const one of ours) if (!given.has(one)) compare(`${at} only weir:`, one);
    for (const one of given) {
      // It says of a secret that a vendor's rule finds also that it looks like any, if the match has another first line.
      const secret = one.slice("generic-api-key ".length);
      const isCovered =
        one.startsWith("generic-api-key ") && [...ours].some((other) => other.includes(secret));
      if (!ours.has(one) && !isCovered) compare(`${at} only gitleaks:`, one);
    }
  }
  console.log(
    `${texts.length} files, ${values.length} of them values of tests: ${agreed} secrets found by both`,
  );
  for (const [reason, count] of explained) console.log(`${count}: ${reason}`);
  expect(different).toEqual([]);
}, 600_000);
