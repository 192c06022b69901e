/** The gateway keys of a running gateway: those of its config, and those that the keeper sends. */
import type { Config } from "./config/schema.ts";
import { declaredBy } from "./config/declared.ts";
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
    this.#noting(() => this.keyring.declare(this.#declared.keys.map(compileKey)));
  }

  /** Activates keys of the store. Messages about other things are ignored. */
  receive(message: BooksDown): void {
    if (message.kind === "policy") {
      const { keys, closed } = message.policy;
      this.#noting(() => this.keyring.replace(stored(keys).map(compileKey), closed));
      this.#cut(keys);
    } else if (message.kind === "changes") {
      const { upserts, removed, closed } = message;
      const keys = stored(upserts.keys ?? []);
      this.#noting(() => this.keyring.change(keys.map(compileKey), removed, closed));
      this.#cut(keys);
    }
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
