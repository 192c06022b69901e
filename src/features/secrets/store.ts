/** What stores have in common. */
import type {
  AwsOptions,
  AzureOptions,
  GcpOptions,
  KubernetesOptions,
  SecretsOptions,
  VaultOptions,
} from "./section.ts";

/** A document of a store, as it was read. */
export interface Fetched {
  /** A text, or members by their names. */
  readonly content: unknown;
  /** As the store names it. */
  readonly version?: string;
  readonly lease?: Lease;
}

/** The store takes the secret back when this ends. */
export interface Lease {
  /** How long it is from now on. Milliseconds. */
  readonly ms: number;
  /** Makes it longer. @returns how long it is from now on, milliseconds @throws Error if it has ended, or cannot be longer */
  extend?(stop: AbortSignal): Promise<number>;
}

/** @throws Error with a clause about the document: `cannot be read: Vault answered with status 403` */
export interface Store {
  read(document: string, stop: AbortSignal): Promise<Fetched>;
}

/** Options of the stores, with secrets as texts. */
export type Plain<Options> = Options extends { reveal(): string }
  ? string
  : Options extends object
    ? { [Name in keyof Options]: Plain<Options[Name]> }
    : Options;

export type StoreOptions = Plain<SecretsOptions>;
export type { AwsOptions, AzureOptions, GcpOptions, KubernetesOptions, VaultOptions };

export type Environment = Readonly<Record<string, string | undefined>>;
