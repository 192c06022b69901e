import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takeUpload } from "../../src/server/upload.ts";

const directory = mkdtempSync(join(tmpdir(), "weir-upload-"));
afterAll(() => rmSync(directory, { recursive: true }));
const limits = { directory, body: 16 * 1024 * 1024, text: 64 * 1024 };

/** Pieces of random lengths, each in memory that is used again. */
async function* cut(bytes: Uint8Array, most: number): AsyncGenerator<Uint8Array> {
  const memory = new Uint8Array(most);
  for (let at = 0; at < bytes.length;) {
    const piece = bytes.subarray(at, at + 1 + Math.floor(Math.random() * (most - 1)));
    memory.set(piece);
    yield memory.subarray(0, piece.length);
    at += piece.length;
  }
}

async function written(form: FormData) {
  const response = new Response(form);
  const type = response.headers.get("content-type");
  return { type, bytes: new Uint8Array(await response.arrayBuffer()) };
}

async function joined(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(Uint8Array.from(piece));
  return Buffer.concat(all);
}

function random(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

function formOf(lengths: readonly number[], modelAt: number): FormData {
  const form = new FormData();
  lengths.forEach((length, index) => {
    if (index === modelAt) form.append("model", "mock/image");
    form.append("image[]", new File([random(length)], `${index}.png`, { type: "image/png" }));
  });
  if (modelAt >= lengths.length) form.append("model", "mock/image");
  return form;
}

describe("takeUpload", () => {
  test("gives bodies back byte for byte, twice, wherever the model is", async () => {
    for (let round = 0; round < 120; round++) {
      const lengths = Array.from({ length: round % 17 }, () =>
        Math.floor(Math.random() * (round % 10 === 0 ? 400_000 : 9000)),
      );
      const { type, bytes } = await written(
        formOf(lengths, Math.floor(Math.random() * (lengths.length + 1))),
      );
      await using upload = await takeUpload(cut(bytes, 20_000), type, limits);
      expect(upload.parts.find(({ name }) => name === "model")?.text).toBe("mock/image");
      const files = upload.parts.filter(({ filename }) => filename !== undefined);
      expect(files.map(({ length }) => length)).toEqual(lengths);
      expect(upload.length).toBe(bytes.length);
      for (let times = 0; times < 2; times++) expect((await joined(upload.bytes())).equals(bytes)).toBe(true);
    }
    expect(readdirSync(directory)).toEqual([]);
  });

  test("refuses cut and long bodies, and leaves nothing", async () => {
    const { type, bytes } = await written(formOf([3_000_000], 1));
    const taking = (length: number, body = limits.body) =>
      takeUpload(cut(bytes.subarray(0, length), 60_000), type, { ...limits, body });
    await expect(taking(2_000_000)).rejects.toThrow("ends before its last boundary");
    await expect(taking(bytes.length, 2_000_000)).rejects.toThrow("longer than 2000000 bytes");
    expect(readdirSync(directory)).toEqual([]);
  });
});
