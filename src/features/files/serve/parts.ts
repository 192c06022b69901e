/** Makes one file of the parts of an upload. */
import { invalidRequest } from "../../../core/error.ts";
import type { FileRow, PartRow, UploadRow } from "../messages.ts";
import type { Vault } from "../vault.ts";
import { checkPurpose } from "./purposes.ts";

/**
 * @param parts in the order of the file @param md5 32 hexadecimal digits that the bytes must have
 * @throws GatewayError if they are not what was said when the upload began; then it goes on
 */
export async function assemble(
  vault: Vault,
  upload: UploadRow,
  parts: readonly PartRow[],
  md5?: string,
): Promise<FileRow> {
  const { facts, path, key, person } = upload;
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (upload.bytes >= 0 && bytes !== upload.bytes)
    throw invalidRequest(
      `The parts have ${bytes} bytes together, and the upload was begun with ${upload.bytes}.`,
    );
  checkPurpose(facts.purpose, facts.name, bytes);
  const hash = md5 === undefined ? undefined : new Bun.CryptoHasher("md5");
  const pieces = async function* () {
    for (const part of parts)
      for await (const piece of vault.open(path, part)) {
        hash?.update(piece);
        yield piece;
      }
  };
  // While both are there, the quota counts the parts alone.
  const draft = await vault.draft(path, pieces(), Infinity);
  if (hash && hash.digest("hex") !== md5!.toLowerCase()) {
    await vault.drop(draft);
    throw invalidRequest("The bytes do not have this md5.", "md5");
  }
  const { name, purpose, mime, keepMs } = facts;
  const { file, parts: gone } = await vault.keep(
    draft,
    {
      ...{ path, name, purpose, mime, expiresAt: Date.now() + keepMs },
      ...(key !== undefined && { key }),
      ...(person !== undefined && { person }),
    },
    upload.id,
  );
  for (const part of gone) await vault.drop(part);
  return file;
}
