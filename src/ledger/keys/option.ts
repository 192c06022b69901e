/** An option of a key: one declaration, which config, admin API, command line, console and the checks of calls read. */
import type { TSchema } from "@sinclair/typebox";
import type { Principal } from "../../core/principal.ts";
import { Slot } from "../../core/slot.ts";

/** The functions are methods, so that options of different values fit into one list. */
export interface KeyOptionSpec<Value, Compiled = Value> {
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
  /** For a key without the option, where clients read what their key may do: `GET /v1/key`. Only of options that every build has. */
  readonly absent?: Value;
  /** Prepares the value for calls, once for each version of a key: patterns become a matcher. Without it calls get the value itself. */
  compile?(value: Value): Compiled;
  /**
   * The clause for a key that permits more than the key that makes it.
   * @param own undefined: the key has no such restriction @param maker what the key that makes it has
   */
  narrows(own: Value | undefined, maker: Value): string | undefined;
  /** The restriction as a clause: `no tools that run at the provider`. @returns undefined for a value that restricts nothing */
  words(value: Value): string | undefined;
}

/** The typed key of its value, as calls use it. */
export class KeyOption<Value = unknown, Compiled = Value> {
  readonly #spec: KeyOptionSpec<Value, Compiled>;
  readonly #compiled = new Slot<Compiled>();

  constructor(spec: KeyOptionSpec<Value, Compiled>) {
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

  /** The compiled value of a caller: `option.of(call.principal)`. @returns undefined where there is no caller, or it lacks the option */
  of(principal: Pick<Principal, "options"> | undefined): Compiled | undefined {
    const options = principal?.options;
    const value = options && this.#in(options.scopes);
    if (!options || value === undefined) return undefined;
    // Without compile, keyOption gives both the same type.
    if (!this.#spec.compile) return value as Value & Compiled;
    let compiled = this.#compiled.get(options);
    if (compiled === undefined) this.#compiled.set(options, (compiled = this.#spec.compile(value)));
    return compiled;
  }

  /** @param text of the flag; empty for a switch @throws Error with a clause */
  read(text: string): Value {
    return this.#spec.flag.read(text);
  }

  /** Why scopes permit more than those of the key that makes them; undefined where they do not. */
  excess(scopes: object, maker: object): string | undefined {
    const limit = this.#in(maker);
    return limit === undefined ? undefined : this.#spec.narrows(this.#in(scopes), limit);
  }

  /** The restriction of scopes as a clause. */
  words(scopes: object): string | undefined {
    const value = this.#in(scopes);
    return value === undefined ? undefined : this.#spec.words(value);
  }

  #in(scopes: object): Value | undefined {
    return (scopes as Readonly<Record<string, Value | undefined>>)[this.#spec.name];
  }
}

/** Declares an option of a key. */
export function keyOption<Value>(spec: Omit<KeyOptionSpec<Value>, "compile">): KeyOption<Value>;
export function keyOption<Value, Compiled>(
  spec: KeyOptionSpec<Value, Compiled> & { compile(value: Value): Compiled },
): KeyOption<Value, Compiled>;
export function keyOption<Value, Compiled>(spec: KeyOptionSpec<Value, Compiled>): KeyOption<Value, Compiled> {
  return new KeyOption(spec);
}
