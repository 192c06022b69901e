/**
 * Users of SCIM without `externalId`: with `link: email` they wait for the person whose verified address is theirs. What is decided of
 * them meanwhile stands in the table that all workers hold, under an id that follows from issuer and address.
 */
import type { Identified } from "../callers.ts";
import { grantsIn, type AccessRow } from "../people.ts";

/** Longer addresses link nobody: of a token they may have been shortened. Characters. */
const MAX_EMAIL = 79;
/** ASCII without spaces, and without the backslash of escapes: of a token, what is not printable is escaped. */
const ADDRESS = /^[!-?A-[\]-~]+@[!-?A-[\]-~]+$/;

/** An address as addresses are compared; undefined for a text that links nobody. */
export function mailOf(text: string | undefined): string | undefined {
  const isAddress = text !== undefined && text.length <= MAX_EMAIL && ADDRESS.test(text);
  return isAddress ? text.toLowerCase() : undefined;
}

/** It begins as no id of a person or token does, so that no subject of a token is one. */
export function waitingId(issuer: string, mail: string): string {
  return `wait_${new Bun.CryptoHasher("sha256").update(`${issuer}\0${mail}`).digest("hex").slice(0, 32)}`;
}

/** The id under which a user may wait for somebody; undefined without a verified address. */
export function waitingFor(
  issuer: string,
  { email, isEmailVerified }: Pick<Identified, "email" | "isEmailVerified">,
): string | undefined {
  const mail = isEmailVerified ? mailOf(email) : undefined;
  return mail === undefined ? undefined : waitingId(issuer, mail);
}

/**
 * What holds for a person with the address of a user who waits.
 * @param row what is known of the person @param waiting what is known of the user
 */
export function joinedRow(row: AccessRow | undefined, waiting: AccessRow): Omit<AccessRow, "id"> {
  const { path, not_before: since = 0, cut = 0 } = row ?? {};
  const former = row && row.status !== "deleted" ? row : undefined;
  const isAdmitted = waiting.status === "active";
  return {
    // A user who was created again after it was deleted is admitted again.
    status: isAdmitted && former ? former.status : waiting.status,
    path: path ?? waiting.path,
    grants: JSON.stringify([...(former ? grantsIn(former) : []), ...grantsIn(waiting)]),
    not_before: since,
    cut,
  };
}
