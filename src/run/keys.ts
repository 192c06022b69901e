/** The gateway keys of a running gateway: those of its config, and those that the keeper sends. */
import type { Config } from "../config/schema.ts";
import { declaredBy } from "../config/declared.ts";
import { ConfigError, type Path } from "../config/error.ts";
import type { CompiledKey } from "../core/principal.ts";
import { setNamed } from "../core/model-sets.ts";
import { Keyring } from "../gateway/keyring.ts";
import { compileKey } from "../ledger/keys/principal.ts";
import { isMistyped } from "../ledger/keys/form.ts";
import type { KeyOption } from "../ledger/keys/option.ts";
import { unenforcedSentence } from "../ledger/keys/scopes.ts";
import type { BooksDown } from "../ledger/messages.ts";
import { type Budget, type Declared, isDeclared, type KeyEntry, type RateLimit } from "../ledger/policy.ts";

export interface GatewayKeysOptions {
  /** Ends the running calls of a key. @param id of the key */
  cut(id: string): void;
  /** Calls need a key from now on, or none any more. */
  onChange(): void;
  /** Options of keys in this build. */
  options: readonly KeyOption[];
  /** Logs a sentence as a fault. */
  fault(sentence: string): void;
}

export class GatewayKeys {
  readonly keyring = new Keyring(isMistyped);
  readonly #options: GatewayKeysOptions;
  #declared: Declared = { keys: [], budgets: [], rates: [] };
  /** Limits of the store that name a set of models, by id: in words, and the name of the set. */
  readonly #limitsOnSets = new Map<string, { where: string; set: string }>();
  /** Names of the keys of the store that are not revoked, by id. */
  readonly #storedNames = new Map<string, string>();
  /** Restrictions that weir does not know and has reported. */
  readonly #said = new Set<string>();

  constructor(options: GatewayKeysOptions) {
    this.#options = options;
  }

  /** The declarations of the config. */
  get declared(): Declared {
    return this.#declared;
  }

  /** Activates the keys of a config. */
  declare(config: Pick<Config, "keys" | "budgets" | "rates" | "modelSets">): void {
    this.#declared = declaredBy(config);
    this.#noting(() =>
      this.keyring.declare(this.#compiled(this.#declared.keys.filter(({ kind }) => kind === "call"))),
    );
  }

  /**
   * A name stands for one key: in the log, in metrics and for commands. A set that a limit of the store names stands for models.
   * @throws ConfigError for a key of a config with the name of a key of the store, and for such a set that the config lacks
   */
  assertNames(
    { keys, modelSets }: Pick<Config, "keys" | "modelSets">,
    locate: (path: Path) => string = () => "config",
  ): void {
    for (const { where, set } of this.#limitsOnSets.values())
      if (!Object.hasOwn(modelSets, set))
        throw new ConfigError(
          locate(["modelSets"]),
          `modelSets has no set ${set}, and ${where} of the store counts its models; keep the set, or delete that one while weir runs with it`,
          ["modelSets"],
        );
    const ids = new Map([...this.#storedNames].map(([id, name]) => [name, id]));
    for (const [index, { name }] of keys.entries()) {
      const id = ids.get(name);
      const path = ["keys", index, "name"];
      if (id !== undefined)
        throw new ConfigError(
          locate(path),
          `the name ${JSON.stringify(name)} belongs to a key of the store (${id}) already; choose another one, or revoke that key by its id while weir runs without this one`,
          path,
        );
    }
  }

  /** Activates keys of the store. Messages about other things are ignored. */
  receive(message: BooksDown): void {
    if (message.kind === "policy") {
      const { keys, budgets, rates, closed, unreleased } = message.policy;
      this.#storedNames.clear();
      this.#limitsOnSets.clear();
      this.#nameStored(keys);
      this.#noteLimits(budgets, rates);
      this.#noting(() => this.keyring.replace(this.#compiled(stored(keys)), closed, unreleased === "all"));
      this.#cut(keys);
    } else if (message.kind === "changes") {
      const { upserts, removed, closed, unreleased } = message;
      const keys = stored(upserts.keys ?? []);
      for (const id of removed) {
        this.#storedNames.delete(id);
        this.#limitsOnSets.delete(id);
      }
      this.#noteLimits(upserts.budgets, upserts.rates);
      this.#nameStored(keys);
      this.#noting(() => this.keyring.change(this.#compiled(keys), removed, closed, unreleased === "all"));
      this.#cut(keys);
    }
  }

  #noteLimits(budgets: readonly Budget[] = [], rates: readonly RateLimit[] = []): void {
    const limits = [
      ...budgets.map((entry) => ({ entry, where: `the budget ${entry.name}` })),
      ...rates.map((entry) => ({ entry, where: `the rate limit ${entry.name}` })),
    ];
    for (const { entry, where } of limits) {
      const { id, on, source } = entry;
      const set = on.kind === "model" && source === "store" ? setNamed(on.what) : undefined;
      if (set === undefined) this.#limitsOnSets.delete(id);
      else this.#limitsOnSets.set(id, { where, set });
    }
  }

  #compiled(keys: readonly KeyEntry[]): CompiledKey[] {
    return keys.map((key) => {
      const compiled = compileKey(key, () => this.#declared.modelSets ?? {}, this.#options.options);
      this.#sayUnenforced(key, compiled);
      return compiled;
    });
  }

  /** Once for each key and restriction. */
  #sayUnenforced({ id, name, revokedAt }: KeyEntry, { unenforced }: CompiledKey): void {
    if (unenforced === undefined || revokedAt !== undefined || this.#said.has(`${id} ${unenforced}`)) return;
    this.#said.add(`${id} ${unenforced}`);
    this.#options.fault(unenforcedSentence(name, unenforced));
  }

  #nameStored(keys: readonly KeyEntry[]): void {
    for (const { id, name, kind, revokedAt } of stored(keys))
      if (kind === "call" && revokedAt === undefined) this.#storedNames.set(id, name);
      else this.#storedNames.delete(id);
  }

  #cut(keys: readonly KeyEntry[]): void {
    for (const { id, revokedAt, cut } of keys) if (revokedAt !== undefined && cut) this.#options.cut(id);
  }

  #noting(change: () => void): void {
    const wasOpen = this.keyring.isOpen;
    change();
    if (this.keyring.isOpen !== wasOpen) this.#options.onChange();
  }
}

/** The keys of the store: this process knows those of its config from the config itself. */
function stored(keys: readonly KeyEntry[]): readonly KeyEntry[] {
  return keys.filter((key) => !isDeclared(key));
}
