/** Memory that is given back. */
import { expect, test } from "bun:test";
import { release } from "../../src/stream/release.ts";

test("a large piece is empty afterwards, and parts of other bytes stay", () => {
  const large = new Uint8Array(64 * 1024).fill(1);
  release(large);
  expect(large.length).toBe(0);
  const whole = new Uint8Array(128 * 1024).fill(1);
  release(whole.subarray(0, 64 * 1024));
  release(whole.subarray(64 * 1024));
  expect(whole.every((byte) => byte === 1)).toBe(true);
  const small = Buffer.from("text");
  release(small);
  expect(small.toString()).toBe("text");
});
