/** What workers tell the keeper. */
import type { SignInSettings } from "./sign-in/settings.ts";

/** A person or workload whose token was verified. */
export interface SeenPerson {
  readonly id: string;
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly email?: string;
  readonly isEmailVerified: boolean;
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export type IdentityUp =
  | { readonly seen: SeenPerson }
  /** How people sign in, by the config that serves; absent: they do not. */
  | { readonly signIn: SignInSettings | undefined };
