/** Hashes of the sections of prompts. They are compared between processes and over weeks, so their function must not change. */

/** Length of a hash. Bytes. */
export const SECTION_BYTES = 8;

export function hashSection(content: Uint8Array | string): bigint {
  return Bun.hash.xxHash64(content);
}
