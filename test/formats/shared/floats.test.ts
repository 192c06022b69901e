import { expect, test } from "bun:test";
import fc from "fast-check";
import { fromBase64, toBase64 } from "../../../src/formats/shared/floats.ts";

test("a vector survives base64 bit for bit, whatever its length and values", () => {
  fc.assert(
    fc.property(fc.float32Array({ maxLength: 40 }), (vector) => {
      expect(new Uint8Array(fromBase64(toBase64(vector))!.buffer)).toEqual(
        new Uint8Array(vector.buffer.slice(0)),
      );
    }),
  );
});

test("numbers and the part of a longer list are written as 32-bit floats, little-endian", () => {
  expect(toBase64([1])).toBe("AACAPw==");
  expect(toBase64(Float32Array.from([9, 1, 9]).subarray(1, 2))).toBe("AACAPw==");
  expect(toBase64(Int8Array.from([1]))).toBe("AACAPw==");
});

test("bytes that are not whole floats are no vector", () => {
  expect(fromBase64("AAA=")).toBeUndefined();
  expect(fromBase64("")).toEqual(new Float32Array(0));
});
