/** Values of the headers `Mcp-Name` and `Mcp-Param-…` (revision 2026-07-28, Streamable HTTP). */

const ENCODED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** Printable ASCII as it is; anything else, and what looks encoded, as base64 of UTF-8. */
export function encodeValue(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !ENCODED.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}

/** @returns undefined for a value that no client may send */
export function decodeValue(value: string): string | undefined {
  if (!/^[\x20-\x7e]*$/.test(value)) return undefined;
  if (!value.startsWith("=?base64?") || !value.endsWith("?=")) return value;
  const [, encoded] = ENCODED.exec(value) ?? [];
  if (encoded === undefined || encoded.length % 4 !== 0) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") !== encoded) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
