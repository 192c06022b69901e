/** `Range` of RFC 9110 14.2: one range of bytes. */
import type { ByteRange } from "../../../core/kept-files.ts";

/** @returns undefined: the whole file, also where several ranges are asked for; `outside`: none of the bytes */
export function rangeOf(headers: Headers, bytes: number, etag: string): ByteRange | "outside" | undefined {
  const condition = headers.get("if-range");
  if (condition !== null && condition !== etag) return undefined;
  const [, first = "", last = ""] =
    /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get("range")?.trim() ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const count = Math.min(Number(last), bytes);
    return count === 0 ? "outside" : { from: bytes - count, to: bytes };
  }
  const from = Number(first);
  const to = last === "" ? bytes : Math.min(bytes, Number(last) + 1);
  if (last !== "" && Number(last) < from) return undefined;
  return from >= bytes ? "outside" : { from, to };
}
