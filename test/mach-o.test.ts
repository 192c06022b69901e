/** The signature of a macOS executable, checked on a small one as the system would: a hash for each page of what is signed. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { signAdHoc } from "../src/build/mach-o.ts";

const PAGE = 4096;

/** A Mach-O header with a code segment, a segment for link data, and a signature of junk at the end of it. */
function makeExecutable(codeBytes: number, signatureBytes: number): Uint8Array {
  const bytes = new Uint8Array(codeBytes + signatureBytes).fill(7);
  const view = new DataView(bytes.buffer);
  [0xfeedfacf, 0x01000007, 3, 2, 3, 72 + 72 + 16, 0, 0].forEach((word, at) =>
    view.setUint32(at * 4, word, true),
  );
  const segment = (at: number, name: string, offset: number, size: number) => {
    view.setUint32(at, 0x19, true);
    view.setUint32(at + 4, 72, true);
    bytes.set(new TextEncoder().encode(name.padEnd(16, "\0")), at + 8);
    [0, size, offset, size].forEach((value, index) =>
      view.setBigUint64(at + 24 + index * 8, BigInt(value), true),
    );
  };
  segment(32, "__TEXT", 0, PAGE);
  segment(104, "__LINKEDIT", PAGE, codeBytes - PAGE + signatureBytes);
  [0x1d, 16, codeBytes, signatureBytes].forEach((word, at) => view.setUint32(176 + at * 4, word, true));
  return bytes;
}

/** How many pages do not have the hash that the signature gives them. */
function wrongPages(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const signature = view.getUint32(184, true);
  expect(signature + view.getUint32(188, true)).toBe(bytes.length);
  expect(view.getUint32(signature)).toBe(0xfade0cc0);
  const directory = signature + view.getUint32(signature + 16);
  expect(view.getUint32(directory)).toBe(0xfade0c02);
  const [hashes, pages, end] = [16, 28, 32].map((at) => view.getUint32(directory + at)) as [
    number,
    number,
    number,
  ];
  expect(end).toBe(signature);
  expect(pages).toBe(Math.ceil(end / PAGE));
  let wrong = 0;
  for (let page = 0; page < pages; page++) {
    const content = bytes.subarray(page * PAGE, Math.min((page + 1) * PAGE, end));
    const hash = bytes.subarray(directory + hashes + page * 32, directory + hashes + (page + 1) * 32);
    if (!createHash("sha256").update(content).digest().equals(hash)) wrong++;
  }
  return wrong;
}

test.each([100, 3_000])(
  "every page has its hash, whatever the size of the old signature (%d bytes)",
  (old) => {
    const executable = makeExecutable(5 * PAGE + 123 * 16, old);
    const signed = signAdHoc(executable, "weir");
    expect(wrongPages(signed)).toBe(0);
    // The segment with the signature covers all of it.
    const view = new DataView(signed.buffer);
    expect(Number(view.getBigUint64(104 + 40, true) + view.getBigUint64(104 + 48, true))).toBe(signed.length);
    signed[PAGE + 1]! ^= 1;
    expect(wrongPages(signed)).toBe(1);
  },
);

test("what is no macOS executable is refused", () => {
  expect(() => signAdHoc(new Uint8Array(100), "weir")).toThrow("not a 64-bit Mach-O");
});
