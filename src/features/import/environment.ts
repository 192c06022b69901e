/** The environment variables that the written file refers to, and the values of those that were literal in the source. */
import type { SourceNode } from "./source.ts";

/** The use of a value, which decides on a stand-in that lets the config load without it. */
export type Kind = "secret" | "url" | "text";

export interface EnvironmentVariable {
  name: string;
  kind: Kind;
  /** The literal of the source file; absent where the source refers to a variable, too. */
  value?: string;
  /** Where the literal is: `config.yaml:7`. */
  at?: string;
  /** Path of the literal in the source. */
  path?: string;
}

/** How a source refers to environment variables: the text in the notation of `weir.yaml`, or `undefined` for a literal. */
export type References = (text: string) => string | undefined;

/** A literal in the notation of `weir.yaml`, where `${` begins a reference. */
export function escapeReferences(text: string): string {
  return text.replaceAll("${", () => "$${");
}

const REFERENCE = /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)/g;

export class Environment {
  readonly #references: References;
  readonly #variables = new Map<string, EnvironmentVariable>();
  /** The source reads secrets from a store by the names of variables: the reference of weir, or `undefined` for one of the environment. */
  stored: ((name: string) => string | undefined) | undefined;

  constructor(references: References) {
    this.#references = references;
  }

  get variables(): EnvironmentVariable[] {
    return [...this.#variables.values()];
  }

  /** Whether a text is a reference to a variable. */
  isReference(text: string): boolean {
    return this.#references(text) !== undefined;
  }

  /** A value that may be in the file: references are kept, a literal stays a literal. */
  text(text: string, kind: Kind = "text"): string {
    const referring = this.#references(text);
    if (referring === undefined) return escapeReferences(text);
    const whole = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(referring)?.[1];
    const kept = kind === "secret" && whole !== undefined ? this.stored?.(whole) : undefined;
    if (kept !== undefined) return kept;
    for (const [, name = ""] of referring.matchAll(REFERENCE))
      if (!this.#variables.has(name)) this.#variables.set(name, { name, kind });
    return referring;
  }

  /**
   * A value that must not be in the file: a literal becomes a reference to a variable.
   * @param name the variable of a literal; a number follows if it has another value already
   */
  secret(node: SourceNode, name: string): string {
    const text = String(node.value);
    if (this.isReference(text)) return this.text(text, "secret");
    node.hide();
    const same = this.variables.find(({ value }) => value === text);
    const chosen = same?.name ?? this.#freeName(name);
    if (!same)
      this.#variables.set(chosen, {
        name: chosen,
        kind: "secret",
        value: text,
        at: node.at,
        path: node.where,
      });
    return `\${${chosen}}`;
  }

  /** A reference to a variable that the source does not have. */
  variable(name: string, kind: Kind = "secret"): string {
    if (!this.#variables.has(name)) this.#variables.set(name, { name, kind });
    return `\${${name}}`;
  }

  /** The value of a request header; that of one with a credential becomes a reference. */
  header(node: SourceNode): string {
    const isSecret = /auth|key|token|secret|cookie/i.test(node.name);
    return isSecret ? this.secret(node, node.name) : this.text(String(node.value));
  }

  /** The value that the source sets for a variable. */
  define(node: SourceNode): boolean {
    const known = this.#variables.get(node.name);
    if (known === undefined || known.value !== undefined) return false;
    Object.assign(known, { value: String(node.value), at: node.at, path: node.where });
    return true;
  }

  #freeName(wanted: string): string {
    const name = wanted
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, "_")
      .replace(/^(?=\d)|^_+/, "K_");
    for (let number = 1; ; number++) {
      const candidate = number === 1 ? name : `${name}_${number}`;
      if (!this.#variables.has(candidate)) return candidate;
    }
  }
}
