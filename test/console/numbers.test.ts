/** Figures as the console prints them: tables of input and output. */
import { describe, expect, test } from "bun:test";
import { counted, count, percent, whole } from "../../src/console/numbers/counts.ts";
import { age, duration } from "../../src/console/numbers/durations.ts";
import {
  dollars,
  exactDollars,
  lineOf,
  perMillion,
  placesOf,
  readDollars,
} from "../../src/console/numbers/money.ts";
import { ago, utc } from "../../src/console/numbers/times.ts";

function table<Input>(
  name: string,
  print: (input: Input) => string | undefined,
  rows: readonly (readonly [Input, string | undefined])[],
): void {
  describe(name, () => {
    for (const [input, output] of rows)
      test(`${String(input)} is ${output}`, () => {
        expect(print(input)).toBe(output!);
      });
  });
}

table<number | undefined | null>("money", dollars, [
  [0, "$0"],
  [undefined, "–"],
  [null, "–"],
  [1, "$0.000000001"],
  [170_600, "$0.0001706"],
  [27_265_500, "$0.02727"],
  [71_940_000, "$0.07194"],
  [999_949_999, "$0.9999"],
  [999_960_000, "$1.000"],
  [5_218_000_000, "$5.218"],
  [9_999_400_000, "$9.999"],
  [9_999_600_000, "$10.00"],
  [24_351_000_000, "$24.35"],
  [1_043_830_000_000, "$1,043.83"],
  [-27_265_500, "−$0.02727"],
]);

test("no amount that is not zero is printed as zero, and none has three decimals after a comma", () => {
  for (let exponent = 0; exponent < 16; exponent += 0.01) {
    const text = dollars(Math.round(10 ** exponent));
    expect(text).toMatch(/[1-9]/);
    expect(text).not.toMatch(/,\d{3}\.\d{3}/);
  }
});

test("a ledger's lines have the decimals that all of them need, and add up on the screen", () => {
  const lines = [3_852_000, 5_526_000, 8_287_500, 9_600_000];
  const sum = lines.reduce((all, line) => all + line, 0);
  const places = placesOf([...lines, sum]);
  expect(places).toBe(7);
  expect(lines.map((line) => lineOf(line, places))).toEqual([
    "$0.0038520",
    "$0.0055260",
    "$0.0082875",
    "$0.0096000",
  ]);
  expect(lineOf(sum, places)).toBe("$0.0272655");
  expect(placesOf([5_000_000_000])).toBe(2);
  expect(placesOf([0])).toBe(2);
});

test("all nine decimals are exact for large amounts", () => {
  expect(exactDollars(1_043_830_000_001)).toBe("$1,043.830000001");
  expect(exactDollars(-1)).toBe("−$0.000000001");
});

table<number>("dollars a million tokens", perMillion, [
  [2_500_000, "2.50"],
  [15_000_000, "15.00"],
  [50_000, "0.050"],
  [5_000, "0.005"],
  [37_500, "0.0375"],
  [0, "0.00"],
]);

table<string>(
  "an amount that a person writes",
  (text) => {
    const nano = readDollars(text);
    return nano === undefined ? undefined : String(nano);
  },
  [
    ["50", "50000000000"],
    ["$1,200.50", "1200500000000"],
    ["0.000000001", "1"],
    ["1,20", undefined],
    ["fifty", undefined],
    ["", undefined],
  ],
);

table<number | undefined>("durations", duration, [
  [undefined, "–"],
  [0, "<1 ms"],
  [0.41, "0.41 ms"],
  [0.999, "1 ms"],
  [578, "578 ms"],
  [999.6, "1.00 s"],
  [8_420, "8.42 s"],
  [9_996, "10.0 s"],
  [59_949, "59.9 s"],
  [59_951, "1 min 00 s"],
  [72_000, "1 min 12 s"],
  [7_500_000, "2 h 05 min"],
  [273_600_000, "3 d 4 h"],
]);

table<number>("ages", age, [
  [0, "0 s"],
  [16_000, "16 s"],
  [240_000, "4 min"],
  [10_800_000, "3 h"],
  [518_400_000, "6 d"],
]);

table<number | undefined>("counts", count, [
  [undefined, "–"],
  [9_999, "9,999"],
  [27_900, "27.9 k"],
  [99_960, "100 k"],
  [999_499, "999 k"],
  [999_500, "1.00 M"],
  [1_340_000, "1.34 M"],
  [2_100_000_000, "2.10 B"],
]);

table<number>("shares", percent, [
  [0, "0 %"],
  [0.0004, "<0.1 %"],
  [0.064, "6.4 %"],
  [0.0996, "10 %"],
  [0.84, "84 %"],
  [0.9972, "99.7 %"],
  [0.9999, ">99.9 %"],
  [1, "100 %"],
]);

test("a number with its word", () => {
  expect([counted(1, "call"), counted(2, "call"), counted(1_204, "try", "tries")]).toEqual([
    "1 call",
    "2 calls",
    "1,204 tries",
  ]);
  expect(whole(184_306)).toBe("184,306");
});

test("times have UTC beside them, and ages count from now", () => {
  const at = Date.UTC(2026, 10, 20, 11, 40, 26);
  expect(utc(at)).toBe("2026-11-20 11:40:26 UTC");
  expect(ago(at, at + 3_000)).toBe("just now");
  expect(ago(at, at + 240_000)).toBe("4 min ago");
});
