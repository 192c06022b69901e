/** Bodies of forms, cut anywhere. */
import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../src/core/error.ts";
import { boundaryOf, readParts, textOf } from "../../src/stream/multipart.ts";

interface Read {
  name: string;
  filename?: string;
  type?: string;
  bytes: Buffer;
}

/** Pieces are overwritten when the next one is asked for, as those of a socket may be. */
async function* cut(body: Uint8Array, lengths: () => number) {
  let last: Buffer | undefined;
  for (let at = 0; at < body.length;) {
    const piece = Buffer.from(body.subarray(at, at + lengths()));
    at += piece.length;
    yield piece;
    last?.fill(0);
    last = piece;
  }
}

async function read(body: Uint8Array, boundary: string, lengths: () => number) {
  const found: (Read & { at: number })[] = [];
  for await (const { bytes, ...head } of readParts(cut(body, lengths), boundary)) {
    const pieces: Buffer[] = [];
    for await (const piece of bytes) pieces.push(Buffer.from(piece));
    found.push({ ...head, bytes: Buffer.concat(pieces) });
  }
  return found;
}

/** A form as the runtime writes it. */
async function written(form: FormData) {
  const response = new Response(form);
  return {
    body: new Uint8Array(await response.clone().arrayBuffer()),
    boundary: boundaryOf(response.headers.get("content-type")),
  };
}

/** A repeatable sequence of numbers below `below`. */
function numbers(seed: number) {
  let state = seed * 2_654_435_761 + 1;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("1,000 random bodies, cut at random places, have the parts that were written", async () => {
  for (let seed = 0; seed < 1_000; seed++) {
    const next = numbers(seed);
    const boundary = `x${"-".repeat(next(4))}${next(1e9)}`;
    // What looks like a boundary, and is none.
    const near = [`\r\n--${boundary.slice(0, -1)}`, "\r\n--", "\r\n", "\r", "--", boundary, "\r\n\r\n", "\0"];
    const parts: Read[] = Array.from({ length: 1 + next(4) }, (_, index) => {
      const pieces = Array.from({ length: next(6) }, () =>
        next(2) ? Buffer.from(near[next(near.length)]!) : Buffer.alloc(next(300), 97 + next(26)),
      );
      const text = Buffer.concat(pieces).toString("latin1");
      const bytes = Buffer.from(text.replaceAll(`\r\n--${boundary}`, ""), "latin1");
      return next(2)
        ? { name: `field${index}`, bytes }
        : { name: `file${index}`, filename: `näme ${index}.bin`, type: "application/octet-stream", bytes };
    });
    const body = Buffer.concat([
      ...parts.flatMap(({ name, filename, type, bytes }) => [
        Buffer.from(
          `--${boundary}\r\nContent-Disposition: form-data; name="${name}"` +
            (filename ? `; filename="${filename}"\r\nContent-Type: ${type}` : "") +
            "\r\n\r\n",
        ),
        bytes,
        Buffer.from("\r\n"),
      ]),
      Buffer.from(`--${boundary}--\r\n`),
    ]);
    const found = await read(body, boundary, () => 1 + next(next(2) ? 7 : 500));
    expect(found.map(({ at: _, ...part }) => part)).toEqual(parts);
    for (const { at, bytes } of found) expect(body.subarray(at, at + bytes.length).equals(bytes)).toBe(true);
  }
});

test("a form of the runtime, cut at every byte", async () => {
  const form = new FormData();
  form.append("file", new File(["a\r\n--b"], 'nä"me\r\n.jsonl', { type: "text/plain" }));
  form.append("purpose", "batch");
  const { body, boundary } = await written(form);
  for (let at = 1; at < body.length; at++) {
    let first = true;
    const parts = await read(body, boundary, () => {
      const length = first ? at : body.length;
      first = false;
      return length;
    });
    expect(parts.map(({ name, bytes }) => [name, bytes.toString()])).toEqual([
      ["file", "a\r\n--b"],
      ["purpose", "batch"],
    ]);
    expect(parts[0]!.filename).toBe('nä"me\r\n.jsonl');
    expect(parts[0]!.type).toStartWith("text/plain");
  }
});

describe("a name", () => {
  const named = async (parameters: string) => {
    const body = Buffer.from(`--b\r\ncontent-disposition: form-data; ${parameters}\r\n\r\nx\r\n--b--`);
    const [part] = await read(body, "b", () => 9);
    return [part!.name, part!.filename];
  };

  test("is decoded as browsers code it", async () => {
    expect(await named('name="f"; filename="n%C3%A4 %22q%22 %0d%0A.txt"')).toEqual([
      "f",
      'n%C3%A4 "q" \r\n.txt',
    ]);
    expect(await named('filename="a;b=c.txt"; name="f"')).toEqual(["f", "a;b=c.txt"]);
    expect(await named("name=f; filename=plain.txt")).toEqual(["f", "plain.txt"]);
    expect(await named(`name="f"; filename="x"; filename*=UTF-8''n%C3%A4.txt`)).toEqual(["f", "nä.txt"]);
    expect(await named('name="f"')).toEqual(["f", undefined]);
  });
});

test("a part that is not read is skipped, and a long text is refused", async () => {
  const body = Buffer.from(
    `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n${"x".repeat(500)}\r\n--b\r\ncontent-disposition: form-data; name="c"\r\n\r\ny\r\n--b--`,
  );
  const names: string[] = [];
  for await (const part of readParts(
    cut(body, () => 50),
    "b",
  ))
    names.push(part.name);
  expect(names).toEqual(["a", "c"]);
  for await (const part of readParts(
    cut(body, () => 50),
    "b",
  ))
    return expect(textOf(part, 100)).rejects.toThrow("longer than 100 bytes");
});

test("what is no form, or breaks off, is refused", async () => {
  const whole = Buffer.from('--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n--b--');
  for (let length = 0; length < whole.length; length++)
    await expect(read(whole.subarray(0, length), "b", () => 5)).rejects.toBeInstanceOf(GatewayError);
  await expect(read(Buffer.from("--b\r\n\r\nx\r\n--b--"), "b", () => 5)).rejects.toThrow("no name");
  await expect(read(Buffer.from("--bc\r\n\r\nx\r\n--b--"), "b", () => 5)).rejects.toThrow(
    "behind a boundary",
  );
  for (const type of [null, "application/json", "multipart/form-data", "multipart/mixed; boundary=x"])
    expect(() => boundaryOf(type)).toThrow(GatewayError);
  expect(boundaryOf('multipart/form-data; charset=utf-8; boundary="a b"')).toBe("a b");
});
