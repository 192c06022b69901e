/** Of which type a file is that goes into a request. */
import { isUtf8 } from "node:buffer";
import { mediaTypeOfName, normalizeMediaType, sniffMediaType } from "../../../core/media.ts";

const UNKNOWN = "application/octet-stream";

/** A type that stays in a data URI what it is. */
const TYPE = /^[\w.+-]+\/[\w.+-]+$/;

/** Bytes that say the type of an image or a PDF, and characters of base64 for them. */
const HEAD = 12;

/** What the bytes say; else what the client said, its name suggests, or that it is text. @param declared empty if unknown */
export function mediaTypeOf(bytes: Buffer, declared: string, name: string): string {
  const sniffed = sniffMediaType(bytes.toString("base64", 0, HEAD));
  if (sniffed !== undefined) return sniffed;
  const said = normalizeMediaType(declared);
  if (TYPE.test(said) && said !== UNKNOWN) return said;
  const suggested = mediaTypeOfName(name);
  if (suggested !== "") return suggested;
  return isUtf8(bytes) && !bytes.includes(0) ? "text/plain" : UNKNOWN;
}
