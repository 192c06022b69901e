/** What a worker and the keeper say about client secrets. */
import type { JsonObject } from "../../../core/json.ts";

/** What a client secret is good for: one session. */
export interface Grant {
  /** Id of the key that pays; null while calls need no key. */
  readonly key: string | null;
  /** As a client writes it. */
  readonly model: string;
  readonly transcribes: boolean;
  /** The settings with which the session begins; without `model`. */
  readonly session: JsonObject;
}

/** `digest`: SHA-256 of the secret, in hexadecimal digits. `until`: milliseconds since 1970. */
export type SecretAsk =
  | { readonly issue: Grant; readonly digest: string; readonly until: number }
  | { readonly redeem: string; readonly model: string | null };

/** `unknown`: never issued, used or expired; `model`: for another model, and not used up. */
export type SecretAnswer =
  { readonly grant: Grant } | { readonly refused: "unknown" | "model" } | { readonly issued: true };

export interface SecretUp {
  readonly number: number;
  readonly ask: SecretAsk;
}

export interface SecretDown {
  readonly number: number;
  readonly answer: SecretAnswer;
}
