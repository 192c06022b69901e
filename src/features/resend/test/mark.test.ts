import { expect, test } from "bun:test";
import { makeMark, makeSecret, readMark } from "../mark.ts";

const NOW = 1_796_000_000_000;

test("change 9: a mark is read with its secret, near its time, and for its call alone", () => {
  const secret = makeSecret();
  const mark = makeMark(secret, "req_1", NOW);
  expect(readMark(secret, mark, NOW + 100)).toBe("req_1");
  expect(readMark(secret, mark, NOW + 61_000)).toBeUndefined();
  expect(readMark(makeSecret(), mark, NOW)).toBeUndefined();
  expect(readMark(secret, mark.replace("req_1", "req_2"), NOW)).toBeUndefined();
  expect(readMark(secret, mark.replace(String(NOW), String(NOW + 60_000)), NOW + 61_000)).toBeUndefined();
  for (const text of ["", "req_1", ".", "..", `req_1.${NOW}.`, "x".repeat(10_000)])
    expect(readMark(secret, text, NOW)).toBeUndefined();
});
