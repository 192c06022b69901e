/** The file of pins: what is read, what is refused, and what a change of it leaves as it was. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerPins } from "../pins/compare.ts";
import { pinFileText, readPinFile, writePinFile } from "../pins/pin-file.ts";

const [A, B] = ["a".repeat(64), "b".repeat(64)];
const NAMES = ["__proto__", "constructor", "", 'a"\n', "\u202e", "7"];

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-pins-"));
  file = join(folder, "pins.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

const entries = (pins: ServerPins = {}) => Object.entries(pins).sort();

test("names that every object has, and names of any characters, are names as any other", async () => {
  const pins = Object.fromEntries(NAMES.map((name) => [name, A]));
  for (const server of ["files", "constructor"]) await writePinFile(file, server, () => pins);
  const read = readPinFile(file);
  expect(Object.keys(read)).toEqual(["constructor", "files"]);
  for (const server of ["files", "constructor"]) expect(entries(read[server])).toEqual(entries(pins));
  await writePinFile(file, "files", (before) => ({ ...before, more: B }));
  expect(entries(readPinFile(file)["files"])).toEqual(entries({ ...pins, more: B }));
  // A server that the file does not have begins with nothing, whatever its name.
  await writePinFile(file, "valueof", (before) => (expect(before).toEqual({}), before));
});

test("the order of pins is that of their names, so that a review shows what has changed alone", () => {
  expect(pinFileText({ b: { z: A, y: B }, a: {} })).toBe(pinFileText({ a: {}, b: { y: B, z: A } }));
});

test.each([
  ["", "has no JSON object"],
  ["[]", "has no JSON object"],
  ['{"files": []}', "has no tools of files"],
  ['{"files": {"read": "abc"}}', "has no hash of read of files"],
  ['{"files": {"read": null}}', "has no hash of read of files"],
])("%p is no file of pins", async (text, why) => {
  writeFileSync(file, text);
  expect(() => readPinFile(file)).toThrow(why);
  expect(writePinFile(file, "files", () => ({}))).rejects.toThrow(why);
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("a folder in its place is a fault, and no file is none", () => {
  expect(readPinFile(file)).toEqual({});
  expect(() => readPinFile(folder)).toThrow("cannot be read");
});

test("a change keeps the mode of the file and a link to it, and leaves no other file", async () => {
  writeFileSync(file, "{}");
  chmodSync(file, 0o640);
  const link = join(folder, "link.json");
  symlinkSync(file, link);
  expect(await writePinFile(link, "files", () => ({ read: A }))).toEqual({
    path: link,
    text: pinFileText({ files: { read: A } }),
  });
  expect(readPinFile(file)).toEqual({ files: { read: A } });
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(readdirSync(folder).sort()).toEqual(["link.json", "pins.json"]);
});

test("where it cannot be written the file with the change is given back", async () => {
  const away = join(folder, "away", "pins.json");
  const { text, fault } = await writePinFile(away, "files", () => ({ read: A }));
  expect(JSON.parse(text)).toEqual({ files: { read: A } });
  expect(fault).toBeString();
});
