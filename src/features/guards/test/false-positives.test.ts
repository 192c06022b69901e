/** What looks like a number and is none of a person: 2 MB of code, ids, hashes, times and documents. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { detectorOf } from "../detect/built-in.ts";
import { scan } from "../detect/scan.ts";
import { sourceTexts } from "./gitleaks.ts";

const ROOT = join(import.meta.dir, "../../../..");
const SIZE = 200_000;
/** Per 100 KB. A constant of ten digits in code can be a number of North America. */
const MOST = 1;
const MOST_IN_REGIONS = 10;

/** The same texts in every run. */
let state = 28;
const random = (below: number) => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
const digits = (count: number) => Array.from({ length: count }, () => random(10)).join("");
const hash = (kind: string) => createHash(kind).update(digits(12)).digest("hex");
const uuid = () => hash("md5").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
const time = () => new Date(1_600_000_000_000 + random(400_000_000) * 1_000).toISOString();
const letters = (count: number) =>
  Array.from({ length: count }, () => String.fromCharCode(65 + random(26))).join("");

const MADE: Readonly<Record<string, () => string>> = {
  UUIDs: uuid,
  "UUIDs in JSON": () => JSON.stringify({ id: uuid(), parent: uuid(), at: time() }),
  hashes: () => `${hash("md5")} ${hash("sha1")} sha256:${hash("sha256")}`,
  "times of logs": () =>
    `[${time()}] ${time().slice(0, 10)} ${time().slice(11, 23)} pid=${random(99_999)} took ${random(9_999)}.${digits(3)}ms`,
  "times since 1970": () =>
    `${1_600_000_000 + random(400_000_000)} ${1_600_000_000_000 + random(400_000_000)} ${digits(3)}`,
  versions: () =>
    `v${random(30)}.${random(30)}.${random(30)}-beta.${random(9)}+build.${digits(5)} ^${random(9)}.${random(99)}.${random(999)}`,
  "SKU numbers": () =>
    `SKU-${digits(4)}-${digits(5)} ${letters(2)}${digits(6)} ${letters(3)}-${digits(3)}-${letters(2)} ITEM ${digits(6)}/${digits(2)}`,
  "tables of numbers": () =>
    Array.from({ length: 8 }, () => String(random(10 ** (1 + random(6))))).join("  "),
  "numbers with decimals": () =>
    `${random(1000)}.${digits(6)}, ${random(100)}.${digits(15)} ${digits(2)},${digits(3)}.${digits(2)}`,
  "texts of RFCs": () =>
    `RFC ${random(9_999)}        Section ${random(9)}.${random(9)}.${random(9)}   [Page ${random(200)}]\n   +--------+--------+ 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5\n   the 16-bit field (see Section ${random(9)}) +1, +2 octets, ${random(256)}/${random(65_536)}`,
};

const TEXTS = Object.entries(MADE).map(([name, make]) => {
  const lines: string[] = [];
  for (let size = 0; size < SIZE / 2; size += lines.at(-1)!.length + 1) lines.push(make());
  return [name, lines.join("\n")] as const;
});
const code = ["src", "node_modules"].map((name) =>
  sourceTexts(join(ROOT, name), 400)
    .join("\n")
    .slice(0, SIZE * 3),
);
const ALL = [...TEXTS, ...code.map((text, at) => [`code ${at}`, text] as const)];

test("the texts are 2 MB", () => {
  expect(ALL.reduce((sum, [, text]) => sum + text.length, 0)).toBeGreaterThan(2_000_000);
});

for (const [title, kinds, regions] of [
  ["card, iban and phone", ["card", "iban", "phone"], []],
  ["phone in regions", ["phone"], ["US", "DE"]],
] as const)
  for (const [name, text] of ALL)
    test(`${title}: ${name}`, () => {
      for (const kind of kinds) {
        const found = scan(text, [detectorOf(kind, { regions })]);
        const values = found.map(({ start, end }) => text.slice(start, end));
        const most = ((regions.length > 0 ? MOST_IN_REGIONS : MOST) * text.length) / 100_000;
        if (found.length > 0)
          console.log(`${kind} in ${name}: ${found.length}: ${values.slice(0, 5).join(" | ")}`);
        expect({ kind, isRare: found.length <= most, values: values.slice(0, 20) }).toMatchObject({
          isRare: true,
        });
      }
    });
