/** The key of a call, as the gateway may know it. */
import type { Noted } from "./slot.ts";

/** A gateway key as a call uses it. The keyring makes one object for each key, and keeps it until the key changes. */
export interface KeyAccess extends Noted {
  /** `key_…`, or `config:NAME`. */
  readonly id: string;
  readonly name: string;
  /** `/eng/search`. */
  readonly path: string;
  readonly tags: readonly string[];
  /** Some models or providers are not allowed: plans must be narrowed to those that are. */
  readonly narrowsPlans: boolean;
  /** Whether a pattern of the key matches one of the names of a model. */
  allowsModel(names: readonly string[]): boolean;
  /** Whether calls may go to a provider. */
  allowsProvider(name: string): boolean;
  /** @param id id of a client format, or `embeddings`, `count`, `models`, `explain` */
  allowsEndpoint(id: string): boolean;
  /** Whether calls may come from some addresses only. */
  readonly isBoundToAddresses: boolean;
  allowsAddress(address: string): boolean;
  /** Most output tokens of one call, and most nano-dollars that it may cost. */
  readonly maxTokens?: number;
  readonly maxCost?: number;
  /** The restrictions of the key by their names, for those who declare one. */
  readonly scopes: Readonly<Record<string, unknown>>;
}

/** A key as the keyring needs it: its digests, and how long they admit calls. Times are milliseconds since 1970. */
export interface CompiledKey {
  readonly access: KeyAccess;
  /** `sha256`: 64 lower-case hexadecimal digits. `until`: the digest was replaced and is valid before this time. */
  readonly digests: readonly { readonly sha256: string; readonly until?: number }[];
  /** `false` for keys of the admin API. */
  readonly isForCalls: boolean;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
}
