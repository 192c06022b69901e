import { describe, expect, test } from "bun:test";
import {
  decodeBase64Text,
  identifyMedia,
  isTextMediaType,
  normalizeMediaType,
  parseDataUri,
  sniffMediaType,
  writeDataUri,
} from "../../src/core/media.ts";

const HEADS: Record<string, number[]> = {
  "image/png": [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0],
  "image/jpeg": [0xff, 0xd8, 0xff, 0xe0, 0, 16],
  "image/gif": [..."GIF89a"].map((character) => character.charCodeAt(0)),
  "image/webp": [..."RIFF\0\0\0\0WEBP"].map((character) => character.charCodeAt(0)),
  "application/pdf": [..."%PDF-1.7"].map((character) => character.charCodeAt(0)),
};

const base64 = (bytes: number[]) => Buffer.from(bytes).toString("base64");

describe("the first bytes of data say its type", () => {
  for (const [mediaType, bytes] of Object.entries(HEADS))
    test(mediaType, () => expect(sniffMediaType(base64(bytes))).toBe(mediaType));

  test("other bytes, few bytes and no bytes are nothing known", () => {
    expect(sniffMediaType(base64([1, 2, 3, 4]))).toBeUndefined();
    expect(sniffMediaType(base64([0x89, 0x50]))).toBeUndefined();
    expect(sniffMediaType("")).toBeUndefined();
    expect(sniffMediaType(Buffer.from("RIFF\0\0\0\0WAVE").toString("base64"))).toBeUndefined();
  });

  test("the bytes win over what was declared, and white space goes", () => {
    const png = base64(HEADS["image/png"]!);
    const broken = `${png.slice(0, 4)}\n${png.slice(4)}`;
    expect(identifyMedia("image/jpeg", broken)).toEqual({ mediaType: "image/png", data: png });
    expect(identifyMedia("IMAGE/JPG", "AAAA")).toEqual({ mediaType: "image/jpeg", data: "AAAA" });
  });
});

describe("media types", () => {
  test("spellings are normalised, parameters go", () => {
    expect(normalizeMediaType("image/JPG; q=1")).toBe("image/jpeg");
    expect(normalizeMediaType(" application/x-pdf ")).toBe("application/pdf");
    expect(normalizeMediaType("text/plain;charset=utf-8")).toBe("text/plain");
    expect(normalizeMediaType("")).toBe("");
  });

  test("text is told from the rest", () => {
    for (const type of ["text/csv", "application/json", "application/vnd.api+json", "application/xml"])
      expect(isTextMediaType(type)).toBe(true);
    for (const type of ["application/pdf", "image/svg", "application/octet-stream", ""])
      expect(isTextMediaType(type)).toBe(false);
  });

  test("bytes that are not UTF-8 are no text", () => {
    expect(decodeBase64Text(Buffer.from("grüße").toString("base64"))).toBe("grüße");
    expect(decodeBase64Text(base64([0xff, 0xfe, 0x00]))).toBeUndefined();
  });
});

describe("data URIs", () => {
  test("base64, with and without type and parameters", () => {
    const png = base64(HEADS["image/png"]!);
    expect(parseDataUri(`data:image/png;base64,${png}`)).toEqual({ mediaType: "image/png", data: png });
    expect(parseDataUri(`data:;base64,${png}`)).toEqual({ mediaType: "image/png", data: png });
    expect(parseDataUri(`DATA:image/jpg;name=x;BASE64,${png}`)).toEqual({
      mediaType: "image/png",
      data: png,
    });
  });

  test("escaped base64", () => {
    expect(parseDataUri("data:application/x;base64,%2B%2F%3D")).toEqual({
      mediaType: "application/x",
      data: "+/=",
    });
  });

  test("plain and percent-encoded payloads are bytes", () => {
    expect(parseDataUri("data:,a%20b")).toEqual({
      mediaType: "text/plain",
      data: Buffer.from("a b").toString("base64"),
    });
    expect(parseDataUri("data:image/gif,%47%49%ff")).toEqual({
      mediaType: "image/gif",
      data: base64([0x47, 0x49, 0xff]),
    });
    expect(parseDataUri("data:text/plain,gr%C3%BC%C3%9Fe")!.data).toBe(
      Buffer.from("grüße").toString("base64"),
    );
  });

  test("a comma in the payload stays, a URI without one is none", () => {
    expect(parseDataUri("data:text/plain,a,b")!.data).toBe(Buffer.from("a,b").toString("base64"));
    expect(parseDataUri("data:image/png;base64")).toBeUndefined();
    expect(parseDataUri("https://example.com/a,b")).toBeUndefined();
  });

  test("written and read again", () => {
    const media = { mediaType: "image/png", data: base64(HEADS["image/png"]!) };
    expect(parseDataUri(writeDataUri(media))).toEqual(media);
  });
});
