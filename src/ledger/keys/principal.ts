/** Keys and what they may do, as calls use them: compiled once for each change, so that a call pays no more than a look-up. */
import { matchesSet, type ModelSets } from "../../core/model-sets.ts";
import type { CompiledKey, Permissions, Principal } from "../../core/principal.ts";
import type { KeyEntry, Scopes } from "../policy.ts";
import { type AddressBlock, isInBlocks, parseBlock } from "./addresses.ts";
import { coversEndpoint } from "./scopes.ts";

/** The sets of the config at this moment: a reload changes what a key permits. */
type CurrentSets = () => ModelSets;

const NO_SETS: ModelSets = {};

/** @param scopes valid scopes */
export function compilePermissions(scopes: Scopes, sets: CurrentSets = () => NO_SETS): Permissions {
  return new CompiledPermissions(scopes, sets);
}

/** The caller with a key. @param entry a valid entry */
export function compilePrincipal(entry: KeyEntry, sets?: CurrentSets): Principal {
  const { id, name, path, tags, scopes } = entry;
  return { id, name, key: { id, name }, path, tags, options: compilePermissions(scopes, sets) };
}

/** @param entry a valid entry */
export function compileKey(entry: KeyEntry, sets?: CurrentSets): CompiledKey {
  const { digests, kind, expiresAt, revokedAt } = entry;
  return {
    principal: compilePrincipal(entry, sets),
    digests,
    isForCalls: kind === "call",
    expiresAt,
    revokedAt,
  };
}

class CompiledPermissions implements Permissions {
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly scopes: Scopes;
  notes?: unknown[];
  readonly narrowsPlans: boolean;
  readonly #models?: readonly string[];
  readonly #sets: CurrentSets;
  readonly #providers?: ReadonlySet<string>;
  readonly #endpoints?: readonly string[];
  readonly #blocks?: readonly AddressBlock[];

  constructor(scopes: Scopes, sets: CurrentSets) {
    this.maxTokens = scopes.maxTokens;
    this.maxCost = scopes.maxCost;
    this.scopes = scopes;
    this.narrowsPlans = scopes.models !== undefined || scopes.providers !== undefined;
    this.#models = scopes.models;
    this.#sets = sets;
    this.#providers = scopes.providers && new Set(scopes.providers);
    this.#endpoints = scopes.endpoints;
    this.#blocks = scopes.addresses?.flatMap((text) => parseBlock(text) ?? []);
  }

  allowsModel(names: readonly string[]): boolean {
    if (this.#models === undefined) return true;
    const sets = this.#sets();
    // A set that does not exist permits nothing.
    return this.#models.some((text) => matchesSet(text, names, sets) === true);
  }

  allowsProvider(name: string): boolean {
    return this.#providers === undefined || this.#providers.has(name);
  }

  allowsEndpoint(id: string): boolean {
    return this.#endpoints === undefined || this.#endpoints.some((entry) => coversEndpoint(entry, id));
  }

  get isBoundToAddresses(): boolean {
    return this.#blocks !== undefined;
  }

  allowsAddress(address: string): boolean {
    return this.#blocks === undefined || isInBlocks(address, this.#blocks);
  }
}
