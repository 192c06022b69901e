/** `SHA256SUMS`, as `sha256sum --check` reads it. */
import { createHash } from "node:crypto";

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** One line for each file, sorted by name. @param digests by name */
export function checksums(digests: ReadonlyMap<string, string>): string {
  return [...digests.keys()]
    .sort()
    .map((name) => `${digests.get(name)}  ${name}\n`)
    .join("");
}
