/** What workers tell the keeper, and what it answers. */
import type { DeclaredPerson } from "./declared/people.ts";
import type { ScimSettings } from "./scim/settings.ts";
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
  /** A user of SCIM waits for the verified address of the person. */
  readonly waits?: true;
}

export type IdentityUp =
  | { readonly seen: SeenPerson }
  /** People of the config that serves. */
  | { readonly declared: readonly DeclaredPerson[] }
  /** How people sign in, by the config that serves; null: they do not. JSON has no undefined. */
  | { readonly signIn: SignInSettings | null }
  /** How SCIM is served; null: not at all. */
  | { readonly scim: ScimSettings | null }
  | { readonly number: number; readonly ask: IdentityAsk };

/** A question; its one member says what it is about. */
export type IdentityAsk =
  { readonly oauth: OAuthAsk } | { readonly person: NamedPerson } | { readonly browser: BrowserAsk };

/** A browser on the gateway's listener. */
export interface BrowserAsk {
  /** Its header. */
  readonly cookie: string;
  /** Where it comes back to when it has signed in. */
  readonly to: string;
}

/** Somebody on whose behalf a call is. */
export interface NamedPerson {
  /** Id, or address in small letters. */
  readonly name: string;
  /** Path at or below which the person must be. */
  readonly within: string;
}

/** A request to one of the endpoints, as a worker or the admin listener read it. */
export interface OAuthAsk {
  readonly endpoint: "device" | "token" | "revoke" | "register";
  /** Parameters of the form. */
  readonly form?: readonly (readonly [string, string])[];
  /** Body of a registration. */
  readonly text?: string;
  /** Of the client. */
  readonly address: string;
}

/** What an endpoint answers. */
export interface OAuthAnswer {
  readonly status: number;
  /** Undefined: an empty body. */
  readonly body?: object;
}

/** The answer to a question of a worker. */
export interface IdentityDown {
  readonly number: number;
  /** Undefined: there is none at the moment. */
  readonly answer: OAuthAnswer | undefined;
}
