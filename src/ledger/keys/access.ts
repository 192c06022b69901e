/** A key as calls use it: compiled once for each change of the key, so that a call pays no more than a look-up. */
import type { CompiledKey, KeyAccess } from "../../core/key-access.ts";
import { matchesSet, type ModelSets } from "../../core/model-sets.ts";
import type { KeyEntry } from "../policy.ts";
import { type AddressBlock, isInBlocks, parseBlock } from "./addresses.ts";
import { coversEndpoint } from "./scopes.ts";

/** The sets of the config at this moment: a reload changes what a key permits. */
type CurrentSets = () => ModelSets;

const NO_SETS: ModelSets = {};

/** @param entry a valid entry */
export function compileAccess(entry: KeyEntry, sets: CurrentSets = () => NO_SETS): KeyAccess {
  return new CompiledAccess(entry, sets);
}

/** @param entry a valid entry */
export function compileKey(entry: KeyEntry, sets?: CurrentSets): CompiledKey {
  const { digests, kind, expiresAt, revokedAt } = entry;
  return { access: compileAccess(entry, sets), digests, isForCalls: kind === "call", expiresAt, revokedAt };
}

class CompiledAccess implements KeyAccess {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly tags: readonly string[];
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly scopes: KeyEntry["scopes"];
  readonly narrowsPlans: boolean;
  readonly #models?: readonly string[];
  readonly #sets: CurrentSets;
  readonly #providers?: ReadonlySet<string>;
  readonly #endpoints?: readonly string[];
  readonly #blocks?: readonly AddressBlock[];

  constructor({ id, name, path, tags, scopes }: KeyEntry, sets: CurrentSets) {
    this.id = id;
    this.name = name;
    this.path = path;
    this.tags = tags;
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
