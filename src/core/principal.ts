/** Who asks, as the gateway may know it. */
import type { Noted } from "./slot.ts";

/** What callers may do. Several principals may share one object; what is prepared from it is noted on it. */
export interface Permissions extends Noted {
  /** Some models or providers are not allowed: plans must be narrowed to those that are. */
  readonly narrowsPlans: boolean;
  /** Whether a pattern matches one of the names of a model. */
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
  /** The restrictions by their names, for those who declare one. */
  readonly scopes: Readonly<Record<string, unknown>>;
}

/** What of weir a credential must be for. Programs get credentials for one resource (RFC 8707). */
export interface Resource {
  /** Path of its endpoint: `/mcp/github`. A credential for a path is one for the paths below it. */
  readonly path: string;
  /** Scopes (RFC 6749) of which one suffices. The first is what programs ask for at first; those that have none of them learn all. */
  readonly scopes: readonly [string, ...string[]];
}

/**
 * Who asks. A form of credentials makes one object for each credential and returns it until the credential changes: the ledger
 * remembers for each object which budgets and limits count it.
 */
export interface Principal {
  /**
   * Permanent id of the key, else of the person or program. Stored answers, sessions and the places of calls in flight belong to
   * it; two credentials of one request agree if it is the same.
   */
  readonly id: string;
  /** As errors show it to the client. */
  readonly name: string;
  /** The gateway key to which calls are booked: `key_…` or `config:NAME`. Absent for callers without one. */
  readonly key?: { readonly id: string; readonly name: string };
  /** Permanent id of the person who asks, for the columns of features. */
  readonly person?: string;
  /** `/eng/search`. Budgets and limits on it and on the paths above count its calls. */
  readonly path: string;
  readonly tags: readonly string[];
  readonly options: Permissions;
  /** Its calls are refused from this time on. Milliseconds since 1970; absent: its form alone decides. */
  readonly until?: number;
  /** How the credential came to be, for the columns of features: `jwt/okta`. */
  readonly via?: string;
  /**
   * Whether its credential, with which it asks for one thing, is for another one too. Absent: it is for all.
   * @throws GatewayError `authentication` or `permission`, as the form of credentials for a request of that resource
   */
  expect?(resource: Resource): void;
}

/** A caller without a key, as a form of credentials describes it. */
export interface Caller extends Pick<Principal, "name" | "person" | "path" | "until" | "via" | "expect"> {
  /** Permanent, and of one caller among those of the feature: see {@link Principal.id}. */
  readonly id: string;
  readonly tags?: readonly string[];
  /** As the scopes of a key; absent: everything. Callers that are given the same object share what is prepared from it. */
  readonly scopes?: Permissions["scopes"];
}

/** The caller within a sentence: `key alice`. */
export function callerWords({ key, name }: Pick<Principal, "key" | "name">): string {
  return key ? `key ${key.name}` : `caller ${name}`;
}

/** A key as the keyring needs it: its digests, and how long they admit calls. Times are milliseconds since 1970. */
export interface CompiledKey {
  readonly principal: Principal;
  /** `sha256`: 64 lower-case hexadecimal digits. `until`: the digest was replaced and is valid before this time. */
  readonly digests: readonly { readonly sha256: string; readonly until?: number }[];
  /** `false` for keys of the admin API. */
  readonly isForCalls: boolean;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  /** A restriction of the key that this build cannot enforce: the key admits no call. */
  readonly unenforced?: string;
}
