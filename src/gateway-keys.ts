/** The gateway keys of a running gateway: those of its config, and those that the keeper sends. */
import type { Config } from "./config/schema.ts";
import { declaredBy } from "./config/declared.ts";
import { ConfigError, type Path } from "./config/error.ts";
import { Keyring } from "./gateway/keys.ts";
import { compileKey } from "./ledger/keys/access.ts";
import { isMistyped } from "./ledger/keys/form.ts";
import type { BooksDown } from "./ledger/messages.ts";
import { type Declared, isDeclared, type KeyEntry } from "./ledger/policy.ts";

export interface GatewayKeysOptions {
  /** Ends the running calls of a key. @param id of the key */
  cut(id: string): void;
  /** Calls need a key from now on, or none any more. */
  onChange(): void;
}

export class GatewayKeys {
  readonly keyring = new Keyring(isMistyped);
  readonly #options: GatewayKeysOptions;
  #declared: Declared = { keys: [], budgets: [], rates: [] };
  /** Names of the keys of the store that are not revoked, by id. */
  readonly #storedNames = new Map<string, string>();

  constructor(options: GatewayKeysOptions) {
    this.#options = options;
  }

  /** What the config declares. */
  get declared(): Declared {
    return this.#declared;
  }

  /** Activates the keys of a config. */
  declare(config: Pick<Config, "keys" | "budgets" | "rates">): void {
    this.#declared = declaredBy(config);
    this.#noting(() =>
      this.keyring.declare(this.#declared.keys.filter(({ kind }) => kind === "call").map(compileKey)),
    );
  }

  /**
   * A name stands for one key: in the log, in metrics and for commands.
   * @throws ConfigError for a key of a config with the name of a key of the store
   */
  assertNames({ keys }: Pick<Config, "keys">, locate: (path: Path) => string = () => "config"): void {
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
      const { keys, closed, unreleased } = message.policy;
      this.#storedNames.clear();
      this.#nameStored(keys);
      this.#noting(() => this.keyring.replace(stored(keys).map(compileKey), closed, unreleased === "all"));
      this.#cut(keys);
    } else if (message.kind === "changes") {
      const { upserts, removed, closed, unreleased } = message;
      const keys = stored(upserts.keys ?? []);
      for (const id of removed) this.#storedNames.delete(id);
      this.#nameStored(keys);
      this.#noting(() => this.keyring.change(keys.map(compileKey), removed, closed, unreleased === "all"));
      this.#cut(keys);
    }
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
