/** What exactly is found: values that hold others, values beside each other, in other forms, and words of lists. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../config/load.ts";
import { BUILT_IN } from "../declarations.ts";
import { detectorOf, type Find } from "../detect/built-in.ts";
import { scan } from "../detect/scan.ts";
import { guardsOf, guardsSection } from "../section.ts";

const ALL = BUILT_IN.map((name) => detectorOf(name, { regions: ["DE", "US"] }));

/** Values with their kinds, in the order of the text. */
function found(text: string, find: readonly Find[] = BUILT_IN): string[] {
  const detectors = find === BUILT_IN ? ALL : find.map((one) => detectorOf(one));
  return scan(text, detectors).map(({ start, end, kind }) => `${kind} ${text.slice(start, end)}`);
}

const VALUES: readonly (readonly [text: string, values: readonly string[]])[] = [
  // An address in an address, and in its parameters.
  ["see https://example.com/u/anna@example.com/files", ["EMAIL anna@example.com"]],
  [
    "https://x.example/?to=anna@example.com&cc=bob@example.com",
    ["EMAIL anna@example.com", "EMAIL bob@example.com"],
  ],
  ["mailto:anna@example.com?subject=hi", ["EMAIL anna@example.com"]],
  ["postgres://anna:s3cr3t-pw9@10.20.30.40:5432/db", ["CREDENTIALS s3cr3t-pw9", "IP 10.20.30.40"]],
  // A card in what looks like a telephone number, and the other way round.
  ["+4111 1111 1111 1111", ["CARD 4111 1111 1111 1111"]],
  ["call +49 1511 2345678, pay 4111-1111-1111-1111", ["PHONE +49 1511 2345678", "CARD 4111-1111-1111-1111"]],
  ["4111 1111 1111 1111 5500 0000 0000 0004", ["CARD 4111 1111 1111 1111", "CARD 5500 0000 0000 0004"]],
  ["3782 822463 10005", ["CARD 3782 822463 10005"]],
  // An account of which a part looks like a card.
  ["DE89 3704 0044 0532 0130 00.", ["IBAN DE89 3704 0044 0532 0130 00"]],
  [
    "GB82WEST12345698765432,DE89370400440532013000",
    ["IBAN GB82WEST12345698765432", "IBAN DE89370400440532013000"],
  ],
  ["IBAN:DE89370400440532013000", ["IBAN DE89370400440532013000"]],
  // A token in JSON, and in a URL.
  [
    '{"token":"ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"}',
    ["SECRET ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"],
  ],
  [
    "https://ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5@github.com/x",
    ["EMAIL ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5@github.com"],
  ],
  ["00:1b:44:11:3a:b7 2001:db8::8a2e:370:7334.", ["MAC 00:1b:44:11:3a:b7", "IP 2001:db8::8a2e:370:7334"]],
  ["std::vector, a::b, 12:34:56, ::1, 127.0.0.1, v1.2.3.4.5", []],
  // Other forms: the value is where it is written.
  ["ａｎｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ!", ["EMAIL ａｎｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ"]],
  ["４１１１ １１１１ １１１１ １１１１", ["CARD ４１１１ １１１１ １１１１ １１１１"]],
  ["4111\u00a01111\u00a01111\u00a01111", ["CARD 4111\u00a01111\u00a01111\u00a01111"]],
  ["x %61nna%40example.com y", ["EMAIL %61nna%40example.com"]],
  ["x anna&#64;example&period;com y", ["EMAIL anna&#64;example&period;com"]],
  ["x \\u0061nna\\u0040example.com y", ["EMAIL \\u0061nna\\u0040example.com"]],
  ["…½™ anna@example.com ﬁ", ["EMAIL anna@example.com"]],
];

for (const [text, values] of VALUES)
  test(JSON.stringify(text), () => expect(found(text)).toEqual([...values]));

test("a value in base64 is the whole run", () => {
  const run = Buffer.from(
    "The address of Anna is anna@example.com, and her card 4111 1111 1111 1111.",
  ).toString("base64");
  expect(found(`see ${run}`, ["email"])).toEqual([`EMAIL ${run}`]);
});

test("the longest comes first, then the earliest, then the order of the file", () => {
  const part = { name: "part", pattern: "b+" };
  const long = { name: "long", pattern: "ab+c" };
  expect(found("abbbc", [part, long])).toEqual(["LONG abbbc"]);
  expect(
    found("abab", [
      { name: "x", pattern: "ab" },
      { name: "y", pattern: "ab" },
    ]),
  ).toEqual(["X ab", "X ab"]);
  // Of two that overlap, what the longer one leaves over is covered too.
  expect(
    found("aabbb", [
      { name: "x", pattern: "aab" },
      { name: "y", pattern: "bbb" },
    ]),
  ).toEqual(["X aab", "Y bb"]);
});

test("numbers of persons are found in the forms that their states give them", () => {
  expect(found("SSN 078-05-1120 and 000-12-3456", ["ssn-us"])).toEqual(["SSN 078-05-1120"]);
  expect(found("2341 2341 2346, 2341 2341 2347", ["aadhaar-in"])).toEqual(["AADHAAR 2341 2341 2346"]);
  expect(found("86 095 742 719 or 86095742718", ["tax-de"])).toEqual(["TAXID 86 095 742 719"]);
  const [spaced] = scan("AB 12 34 56 C", [detectorOf("nino-uk")]);
  expect(spaced!.normal).toBe("AB123456C");
  const [social] = scan("078 05 1120", [detectorOf("ssn-us")]);
  expect(social!.normal).toBe("078-05-1120");
});

test("words are found whatever their case and width, as whole words", () => {
  const words = { name: "project", words: ["Falcon", "Project Falcon", "Größe", "東京", "x-1"] };
  expect(
    found("FALCON, falcons, project falcon; Projektfalcon; GRÖSSE größe 在東京都 ｆａｌｃｏｎ X-1 x-12", [
      words,
    ]),
  ).toEqual([
    ...[
      "PROJECT FALCON",
      "PROJECT project falcon",
      "PROJECT größe",
      "PROJECT 東京",
      "PROJECT ｆａｌｃｏｎ",
      "PROJECT X-1",
    ],
  ]);
  const { reach } = detectorOf(words);
  expect(reach!("say project fal")).toBe(4);
  expect(reach!("say project")).toBe(4);
  expect(reach!("say that")).toBe(8);
});

test("ten thousand words are found in one pass", () => {
  const words = Array.from({ length: 10_000 }, (_, at) => `word${at.toString(36)}end`);
  const detector = detectorOf({ name: "list", words });
  const text = words.slice(0, 2_000).join(" ");
  const before = process.cpuUsage();
  expect(detector.find(text).length).toBe(2_000);
  expect(process.cpuUsage(before).user / 1e3).toBeLessThan(500);
});

test("words of a file are those of its lines, and a file that is not there is named", () => {
  const cwd = mkdtempSync(join(tmpdir(), "weir-words-"));
  try {
    writeFileSync(join(cwd, "words.txt"), "Falcon\n\n  Project Eagle \r\n");
    const load = (file: string) => {
      writeFileSync(
        join(cwd, "weir.yaml"),
        `guards:\n  names: { find: [{ name: project, file: ${file} }], do: mask }\n`,
      );
      return loadConfig({ flags: {}, env: {}, cwd, sections: [guardsSection] }).config;
    };
    expect(guardsOf(load("words.txt"))[0]!.find).toEqual([
      { name: "project", words: ["Falcon", "Project Eagle"] },
    ]);
    expect(() => load("no.txt")).toThrow(
      /weir\.yaml:2: the file .*no\.txt cannot be read: .* \(at guards\.names\.find\[0\]\.file\)/,
    );
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
});

test("a private network is left out where it is not wanted, and telephone numbers of regions are found there alone", () => {
  const text = "10.1.2.3 8.8.8.8 fd00::1 2001:db8::1, (030) 123456";
  const publicOnly = detectorOf("ip", { privateIps: false });
  expect(scan(text, [publicOnly]).map(({ start, end }) => text.slice(start, end))).toEqual([
    "8.8.8.8",
    "2001:db8::1",
  ]);
  expect(found(text, ["phone"])).toEqual([]);
  const phone = detectorOf("phone", { regions: ["DE"] });
  const [number] = scan(text, [phone]);
  expect(number!.normal).toBe("+4930123456");
});
