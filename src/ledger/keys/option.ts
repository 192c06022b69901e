/** An option of a key: one declaration, which config, admin API, command line, console and the checks of calls read. */
import type { TSchema } from "@sinclair/typebox";
import type { KeyAccess } from "../../core/key-access.ts";

/** The functions are methods, so that options of different values fit into one list. */
export interface KeyOptionSpec<Value> {
  /** Member of the scopes of a key, in the config and in the admin API. */
  readonly name: string;
  /** Its description is the text of the admin API; the one of `config` that of the config. */
  readonly schema: TSchema;
  readonly config?: TSchema;
  /** Of `weir keys create` and `keys update`. Without `value` it is a switch. `read`: throws an Error with a clause. */
  readonly flag: {
    readonly name: string;
    readonly value?: string;
    readonly help: string;
    read(text: string): Value;
  };
  /** Label of the field in the console. */
  readonly label: string;
  /** For a key without the option, where clients read what their key may do: `GET /v1/key`. */
  readonly absent?: Value;
  /**
   * The clause for a key that permits more than the key that makes it.
   * @param own undefined: the key has no such restriction @param maker what the key that makes it has
   */
  narrows(own: Value | undefined, maker: Value): string | undefined;
  /** The restriction as a clause: `no tools that run at the provider`. @returns undefined for a value that restricts nothing */
  words(value: Value): string | undefined;
}

/** The typed key of its value. */
export class KeyOption<Value = unknown> {
  readonly #spec: KeyOptionSpec<Value>;

  constructor(spec: KeyOptionSpec<Value>) {
    this.#spec = spec;
  }

  get name(): string {
    return this.#spec.name;
  }

  get schema(): TSchema {
    return this.#spec.schema;
  }

  /** The schema in the config. */
  get written(): TSchema {
    return this.#spec.config ?? this.#spec.schema;
  }

  get label(): string {
    return this.#spec.label;
  }

  get flag(): Pick<KeyOptionSpec<Value>["flag"], "name" | "value" | "help"> {
    return this.#spec.flag;
  }

  get absent(): Value | undefined {
    return this.#spec.absent;
  }

  /** The value of a key of calls. @returns undefined for a call without a key, and for a key without the option */
  of(access: Pick<KeyAccess, "scopes"> | undefined): Value | undefined {
    return access?.scopes[this.#spec.name] as Value | undefined;
  }

  /** @param text of the flag; empty for a switch @throws Error with a clause */
  read(text: string): Value {
    return this.#spec.flag.read(text);
  }

  /** Why scopes permit more than those of the key that makes them; undefined where they do not. */
  excess(scopes: object, maker: object): string | undefined {
    const limit = this.of({ scopes: maker as KeyAccess["scopes"] });
    if (limit === undefined) return undefined;
    return this.#spec.narrows(this.of({ scopes: scopes as KeyAccess["scopes"] }), limit);
  }

  /** The restriction of scopes as a clause. */
  words(scopes: object): string | undefined {
    const value = this.of({ scopes: scopes as KeyAccess["scopes"] });
    return value === undefined ? undefined : this.#spec.words(value);
  }
}

/** Declares an option of a key. */
export function keyOption<Value>(spec: KeyOptionSpec<Value>): KeyOption<Value> {
  return new KeyOption(spec);
}
