/** What the part in the keeper gives to the operations of the admin API. */
import { Slot } from "../../core/slot.ts";
import type { OAuthBrowser } from "./own/browser.ts";
import type { ScimPart } from "./scim/part.ts";
import type { SignIn } from "./sign-in/sign-in.ts";
import type { PeopleBook } from "./people-book.ts";

export interface OfferedPart {
  /** Loads the code that changes people. */
  book(): Promise<PeopleBook>;
  /** Loads the code that signs people in; undefined while no config wants it. */
  signIn(): Promise<SignIn> | undefined;
  /** Whether people sign in alone: no key is a caller of the admin API. */
  refusesKeys(): boolean;
  /** Loads the pages of the authorization server; undefined while no config wants it. */
  browser(): Promise<OAuthBrowser | undefined>;
  readonly scim: Pick<ScimPart, "answer" | "join">;
}

export const keeperPart = new Slot<OfferedPart>();
