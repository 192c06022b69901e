/** Where the credentials of a provider come from. */
import type { Surroundings } from "./endpoint.ts";

/** A list names environment variables, all of which must be set. */
export type CredentialSet = readonly string[] | CredentialSource;

/** Credentials outside the environment: files of the vendor's tools, an identity of the machine. `authorize` reads them. */
export interface CredentialSource {
  /**
   * Looks for the credentials at the start and at a reload. It reads variables and files, and sends nothing.
   * @returns where they are, for people (`the profile default of ~/.aws/credentials`); undefined if there are none
   */
  find(known: Surroundings): string | undefined;
  /** The operator's remedy if there are none, as the end of the sentence "set ACME_KEY, or …". */
  hint?: string;
}
