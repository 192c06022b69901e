/** The seam `credentials`: forms in which callers say who they are, beside weir's own keys. */
import { GatewayError } from "../core/error.ts";
import type { Principal, Resource } from "../core/principal.ts";

export type { Resource };

/** Where programs get credentials of a form (RFC 9728). */
export interface Issued {
  /** Address at which they know weir, without a slash at the end. */
  readonly url: string;
  /** Issuers of authorization servers. */
  readonly by: readonly string[];
}

/** A form of credentials. A text belongs to the form that claims it, and no other form is asked for it. */
export interface CredentialForm {
  /** As faults and errors name it: `tokens of the company`. */
  readonly name: string;
  /** A made-up text of the form. With each config weir checks that this form claims it and no other one does. */
  readonly example: string;
  /** Absent: programs cannot get such a credential by OAuth. */
  readonly issued?: Issued;
  /** Whether a text has the shape of the form. It must be fast, and it must not depend on whether the text is valid. */
  claims(text: string): boolean;
  /**
   * Finds who asks. The same object for the same credential spares the ledger work.
   * @param text up to the length of a header @param resource for which it must be; absent: all that needs no credential of its own
   * @throws GatewayError `authentication` for a text that identifies no caller; `permission` with the code `insufficient_scope`; it is final
   */
  check(text: string, request: Request, resource?: Resource): Principal | Promise<Principal>;
}

/** @throws Error with a sentence that names both forms if one claims what belongs to the other */
export function assertApart(forms: readonly CredentialForm[]): void {
  for (const [index, { name, example }] of forms.entries()) {
    const twin = forms.findIndex((other) => other.name === name);
    if (twin !== index) throw new Error(`two forms of credentials have the name ${name}`);
    for (const other of forms) {
      const isOwn = other.name === name;
      if (other.claims(example) === isOwn) continue;
      if (isOwn) throw new Error(`the form of credentials ${name} does not claim its own example`);
      throw new Error(`the forms of credentials ${name} and ${other.name} both claim ${describe(example)}`);
    }
  }
}

/** @throws GatewayError `authentication` (`credential_expired`) */
export function assertCurrent(principal: Principal | undefined, now = Date.now()): void {
  if (principal?.until === undefined || now < principal.until) return;
  const sentence = `The credential expired on ${writeTime(principal.until)}; get a new one.`;
  throw new GatewayError("authentication", sentence, {
    code: "credential_expired",
    shouldRetry: false,
    ...CHALLENGE,
  });
}

/** `2026-11-30 12:00 UTC`. */
export function writeTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** The header of a 401. */
export const CHALLENGE = { headers: { "www-authenticate": "Bearer" } };

/** The beginning of an example: what differs is rarely further behind. */
function describe(example: string): string {
  return JSON.stringify(example.length > 24 ? `${example.slice(0, 24)}…` : example);
}
