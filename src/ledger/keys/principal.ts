/** Keys and what they may do, as calls use them: compiled once for each change, so that a call pays no more than a look-up. */
import { matchesSet, type ModelSets } from "../../core/model-sets.ts";
import type { Caller, CompiledKey, Permissions, Principal } from "../../core/principal.ts";
import type { KeyEntry, Scopes } from "../policy.ts";
import { type AddressBlock, isInBlocks, parseBlock } from "./addresses.ts";
import { pathFault } from "./path.ts";
import type { KeyOption } from "./option.ts";
import { KEY_OPTIONS } from "./options.ts";
import { coversEndpoint, scopesFault, unknownIn } from "./scopes.ts";

/** The sets of the config at this moment: a reload changes what a key permits. */
type CurrentSets = () => ModelSets;

const NO_SETS: ModelSets = {};

/** @param scopes valid scopes */
export function compilePermissions(scopes: Scopes, sets: CurrentSets = () => NO_SETS): Permissions {
  return new CompiledPermissions(scopes, sets);
}

/** The caller with a key. @param entry a valid entry */
export function compilePrincipal(entry: KeyEntry, sets?: CurrentSets): Principal {
  const { id, name, path, tags, scopes, person } = entry;
  const options = compilePermissions(scopes, sets);
  return { id, name, key: { id, name }, path, tags, options, ...(person !== undefined && { person }) };
}

/** @param entry a valid entry @param options of keys in this build */
export function compileKey(
  entry: KeyEntry,
  sets?: CurrentSets,
  options: readonly KeyOption[] = KEY_OPTIONS,
): CompiledKey {
  const { digests, kind, expiresAt, revokedAt } = entry;
  const unenforced = unknownIn(entry.scopes, options);
  return {
    principal: compilePrincipal(entry, sets),
    digests,
    isForCalls: kind === "call",
    expiresAt,
    revokedAt,
    ...(unenforced !== undefined && { unenforced }),
  };
}

/**
 * Makes the callers that the forms of credentials of a feature find. It throws an Error with a sentence for a caller that the books
 * could not have.
 * @param owner name of the feature: the ids of its callers are apart from those of keys and of other features
 */
export function callerMaker(owner: string, sets?: CurrentSets): (caller: Caller) => Principal {
  const shared = new WeakMap<object, Permissions>();
  const permissionsOf = (scopes: Scopes) => {
    const fault = scopesFault(scopes);
    if (fault) throw new Error(`of the scopes of a caller ${fault.clause}`);
    const options = compilePermissions(scopes, sets);
    shared.set(scopes, options);
    return options;
  };
  return ({ id, name, path, tags = [], scopes = NO_SCOPES, person, until, via, expect }) => {
    const fault = pathFault(path);
    if (fault !== undefined) throw new Error(`the path ${JSON.stringify(path)} of a caller ${fault}`);
    if (id === "") throw new Error("a caller has an empty id");
    const options = shared.get(scopes) ?? permissionsOf(scopes);
    return { id: `${owner}/${id}`, name, path, tags, options, person, until, via, ...(expect && { expect }) };
  };
}

const NO_SCOPES: Scopes = {};

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
