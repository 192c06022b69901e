/** Detectors take time in proportion to a text, whatever it consists of. */
import { expect, test } from "bun:test";
import { BUILT_IN } from "../declarations.ts";
import { detectorOf } from "../detect/built-in.ts";
import { reachOfAll, scan } from "../detect/scan.ts";
import { chatText, HOSTILE } from "./corpus.ts";

/** A busy machine takes longer than the goal. */
const TOLERANCE = 10;
const COMMON = (["email", "card", "iban", "ip"] as const).map((name) => detectorOf(name));
const ALL = [...BUILT_IN, { name: "employee", pattern: "\\bE-\\d{6}\\b" }].map((one) =>
  detectorOf(one, { regions: ["DE", "US", "NO"] }),
);

/** Milliseconds of the fastest of some runs, without what other processes take. */
function fastest(run: () => void, runs: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let at = 0; at < runs; at++) {
    const cpu = process.cpuUsage();
    const before = Bun.nanoseconds();
    run();
    const wall = (Bun.nanoseconds() - before) / 1e6;
    // Short runs are below the steps of the processor time.
    best = Math.min(best, wall < 5 ? wall : Math.min(wall, process.cpuUsage(cpu).user / 1e3));
  }
  return best;
}

/** Size of a chat in UTF-16 units, and the goal in milliseconds. */
for (const [size, goal] of [
  [20_000, 0.3],
  [200_000, 3],
] as const)
  test(`a chat of ${size} characters is scanned in ${goal} ms`, () => {
    const text = chatText(size);
    expect(scan(text, COMMON).length).toBeGreaterThan(3);
    expect(fastest(() => scan(text, COMMON), 100)).toBeLessThan(goal * TOLERANCE);
  });

test("a piece of a stream is scanned in 3 µs", () => {
  const pieces = chatText(20_000).match(/[^]{1,5}/g)!;
  const run = () => {
    for (const piece of pieces) {
      scan(`the end ${piece}`, COMMON, 8);
      reachOfAll(piece, COMMON);
    }
  };
  expect((fastest(run, 20) * 1e3) / pieces.length).toBeLessThan(3 * TOLERANCE);
});

const MEGABYTE = 1_000_000;
const GOAL = 20;

for (const [name, textOf] of Object.entries(HOSTILE))
  test(`a megabyte of ${name} takes every detector ${GOAL} ms`, () => {
    const text = textOf(MEGABYTE);
    for (const detector of ALL) {
      const ms = fastest(() => detector.find(text), 3);
      expect({ name: detector.name, isFast: ms < GOAL * TOLERANCE }).toEqual({
        name: detector.name,
        isFast: true,
      });
      expect(fastest(() => detector.reach?.(text), 2)).toBeLessThan(TOLERANCE);
    }
    expect(fastest(() => scan(text, []), 2)).toBeLessThan(2 * GOAL * TOLERANCE);
  });

test("findings that overlap are taken apart in linear time", () => {
  const found = Array.from({ length: 200_000 }, (_, at) => ({
    ...{ start: at * 5, end: at * 5 + 8, kind: "VALUE" },
  }));
  const text = "abcde".repeat(200_001);
  const chained = { name: "chain", kind: "VALUE", find: () => found };
  expect(fastest(() => scan(text, [chained]), 1)).toBeLessThan(60 * TOLERANCE);
});

/** Keys of a vendor, and those of no vendor. */
function keys(size: number): string {
  const lines: string[] = [];
  for (let at = 0, length = 0; length < size; at++) {
    const hash = Bun.hash(`${at}`).toString(16).padStart(16, "0");
    const line = at % 2 === 0 ? `ghp_${hash}${hash}aB3d\n` : `my_key = "${hash}Q"\n`;
    lines.push(line);
    length += line.length;
  }
  return Buffer.from(lines.join("")).toString("latin1");
}

test("a text of four times as many keys takes four times as long", () => {
  const secrets = detectorOf("secrets");
  const [small, large] = [keys(MEGABYTE), keys(4 * MEGABYTE)];
  const rules = new Set(secrets.find(small).map(({ rule }) => rule));
  expect([...rules].toSorted()).toEqual(["generic-api-key", "github-pat"]);
  const run = (text: string) => fastest(() => secrets.find(text), 2);
  run(small);
  expect(run(large) / run(small)).toBeLessThan(8);
});
