/**
 * The vendors' own type declarations as a judge of JSON: the `.d.ts` files of the official SDKs are read, and a value is held
 * against a type by its name. Strict: a required member must be there, an unknown member is a fault, a literal must match.
 * The reader knows the part of TypeScript those files use for data: interfaces, aliases, namespaces, unions, literals,
 * arrays, index signatures and `X & {}`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface TypeJudge {
  /** What is wrong with `value` as a `name`; empty when nothing is. @throws when there is no such type. */
  (name: string, value: unknown): string[];
}

type Type =
  | { kind: "literal"; value: string | number | boolean | null }
  | { kind: "primitive"; name: string }
  | { kind: "anything" }
  | { kind: "list"; of: Type }
  | { kind: "union"; of: Type[] }
  | { kind: "both"; of: Type[] }
  | { kind: "object"; shape: Shape }
  | { kind: "name"; name: string; scope: string };

interface Shape {
  members: Map<string, { type: Type; optional: boolean }>;
  /** Of an index signature. */
  others?: Type;
}

interface Declaration {
  tokens: string[];
  scope: string;
  /** Names of the interfaces it extends; absent for an alias. */
  bases?: string[];
  type?: Type;
}

/** A judge by the declarations in these files, paths below `node_modules`. */
export function judgeByTypes(...files: string[]): TypeJudge {
  let declared: Map<string, Declaration> | undefined;
  return (name, value) => {
    declared ??= new Map(files.flatMap((file) => [...declarationsIn(file)]));
    if (!declared.has(name)) throw new Error(`The SDK declares no type ${name}.`);
    return new Check(declared).faults({ kind: "name", name, scope: "" }, value, name);
  };
}

function declarationsIn(file: string): Map<string, Declaration> {
  const text = readFileSync(join(import.meta.dir, "../../node_modules", file), "utf8");
  const declared = new Map<string, Declaration>();
  declare(tokensOf(text), "", declared);
  return declared;
}

function tokensOf(text: string): string[] {
  const bare = text.replace(/\/\*[^]*?\*\//g, " ").replace(/^\s*\/\/.*$/gm, " ");
  return bare.match(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|=>|[\w$]+|[^\s\w]/g) ?? [];
}

const CLOSING: Record<string, string> = { "{": "}", "(": ")", "[": "]" };

/** The index behind the bracket that closes the one at `at`. */
function behind(tokens: readonly string[], at: number): number {
  const [open, close] = [tokens[at]!, CLOSING[tokens[at]!]];
  for (let depth = 0, index = at; index < tokens.length; index++) {
    if (tokens[index] === open) depth++;
    if (tokens[index] === close && --depth === 0) return index + 1;
  }
  return tokens.length;
}

/** The index behind the next `;` outside of brackets. */
function behindStatement(tokens: readonly string[], from: number): number {
  let at = from;
  while (at < tokens.length && tokens[at] !== ";") at = tokens[at]! in CLOSING ? behind(tokens, at) : at + 1;
  return at + 1;
}

function declare(tokens: readonly string[], scope: string, declared: Map<string, Declaration>): void {
  for (let at = 0; at < tokens.length;) {
    const [word, name = ""] = [tokens[at], tokens[at + 1]];
    if (word === "export" || word === "declare") {
      at++;
    } else if (word === "interface" || word === "namespace" || word === "class") {
      const open = tokens.indexOf("{", at);
      const end = behind(tokens, open);
      const body = tokens.slice(open + 1, end - 1);
      if (word === "namespace") declare(body, `${scope}${name}.`, declared);
      if (word === "interface") {
        const bases = namesIn(tokens.slice(at + 2, open));
        declared.set(scope + name, { tokens: body, scope: `${scope}${name}.`, bases });
      }
      at = end;
    } else if (word === "type" && (tokens[at + 2] === "=" || tokens[at + 2] === "<")) {
      const end = behindStatement(tokens, at);
      const body = tokens.slice(tokens.indexOf("=", at) + 1, end - 1);
      declared.set(scope + name, { tokens: body, scope: `${scope}${name}.` });
      at = end;
    } else {
      at = behindStatement(tokens, at);
    }
  }
}

/** The dotted names behind `extends`. */
function namesIn(tokens: readonly string[]): string[] {
  const from = tokens.indexOf("extends");
  return from < 0
    ? []
    : tokens
        .slice(from + 1)
        .join("")
        .split(",");
}

/** Reads types out of tokens. */
class TypeReader {
  readonly #tokens: readonly string[];
  readonly #scope: string;
  #at = 0;

  constructor(tokens: readonly string[], scope: string) {
    this.#tokens = tokens;
    this.#scope = scope;
  }

  type(): Type {
    this.#skip("|");
    const of = [this.#intersection()];
    while (this.#skip("|")) of.push(this.#intersection());
    return of.length === 1 ? of[0]! : { kind: "union", of };
  }

  shape(): Shape {
    const shape: Shape = { members: new Map() };
    while (this.#at < this.#tokens.length) {
      this.#skip("readonly");
      if (this.#skip("[")) {
        while (!this.#skip("]")) this.#at++;
        this.#skip(":");
        shape.others = this.type();
      } else {
        const name = unquoted(this.#take());
        const optional = this.#skip("?");
        this.#skip(":");
        shape.members.set(name, { type: this.type(), optional });
      }
      this.#skip(";");
    }
    return shape;
  }

  #intersection(): Type {
    const of = [this.#postfix()];
    while (this.#skip("&")) of.push(this.#postfix());
    const real = of.filter((type) => !(type.kind === "object" && type.shape.members.size === 0));
    return real.length === 1 ? real[0]! : { kind: "both", of: real };
  }

  #postfix(): Type {
    let type = this.#primary();
    while (this.#tokens[this.#at] === "[" && this.#tokens[this.#at + 1] === "]") {
      this.#at += 2;
      type = { kind: "list", of: type };
    }
    return type;
  }

  #primary(): Type {
    this.#skip("readonly");
    const token = this.#take();
    if (token === "{" || token === "(") {
      const end = behind(this.#tokens, this.#at - 1);
      const inner = new TypeReader(this.#tokens.slice(this.#at, end - 1), this.#scope);
      this.#at = end;
      return token === "(" ? inner.type() : { kind: "object", shape: inner.shape() };
    }
    if (/^['"]/.test(token)) return { kind: "literal", value: unquoted(token) };
    if (/^\d/.test(token)) return { kind: "literal", value: Number(token) };
    const word = WORDS[token];
    if (word) return word;
    let name = token;
    while (this.#skip(".")) name += `.${this.#take()}`;
    const given: Type[] = [];
    if (this.#skip("<")) {
      do given.push(this.type());
      while (this.#skip(","));
      this.#skip(">");
    }
    if (name === "Array") return { kind: "list", of: given[0]! };
    if (name === "Record") return { kind: "object", shape: { members: new Map(), others: given[1]! } };
    return { kind: "name", name, scope: this.#scope };
  }

  #take(): string {
    return this.#tokens[this.#at++] ?? "";
  }

  #skip(token: string): boolean {
    const isThere = this.#tokens[this.#at] === token;
    if (isThere) this.#at++;
    return isThere;
  }
}

const WORDS: Record<string, Type> = {
  string: { kind: "primitive", name: "string" },
  number: { kind: "primitive", name: "number" },
  boolean: { kind: "primitive", name: "boolean" },
  undefined: { kind: "primitive", name: "undefined" },
  null: { kind: "literal", value: null },
  true: { kind: "literal", value: true },
  false: { kind: "literal", value: false },
  unknown: { kind: "anything" },
  any: { kind: "anything" },
  object: { kind: "anything" },
};

function unquoted(token: string): string {
  return /^['"]/.test(token) ? token.slice(1, -1) : token;
}

type Value = Record<string, unknown>;

class Check {
  readonly #declared: Map<string, Declaration>;

  constructor(declared: Map<string, Declaration>) {
    this.#declared = declared;
  }

  faults(type: Type, value: unknown, path: string): string[] {
    const real = this.#resolve(type);
    switch (real.kind) {
      case "anything":
        return [];
      case "literal":
        return value === real.value ? [] : [`${path} is ${show(value)}, not ${show(real.value)}`];
      case "primitive":
        return typeof value === real.name ? [] : [`${path} is ${show(value)}, no ${real.name}`];
      case "list":
        if (!Array.isArray(value)) return [`${path} is ${show(value)}, no list`];
        return value.flatMap((item, index) => this.faults(real.of, item, `${path}[${index}]`));
      case "both":
        return real.of.flatMap((part) => this.faults(part, value, path));
      case "union":
        return this.#ofUnion(real.of, value, path);
      case "object":
        return isObject(value)
          ? this.#ofShape(real.shape, value, path)
          : [`${path} is ${show(value)}, no object`];
      case "name":
        throw new Error(`The SDK declares no type ${real.name}.`);
    }
  }

  #ofShape(shape: Shape, value: Value, path: string): string[] {
    const faults: string[] = [];
    for (const [name, { type, optional }] of shape.members)
      if (value[name] !== undefined) faults.push(...this.faults(type, value[name], `${path}.${name}`));
      else if (!optional) faults.push(`${path}.${name} is missing`);
    for (const [name, member] of Object.entries(value)) {
      if (shape.members.has(name)) continue;
      if (!shape.others) faults.push(`${path}.${name} is unknown`);
      else faults.push(...this.faults(shape.others, member, `${path}.${name}`));
    }
    return faults;
  }

  /** The faults by the branch that fits best; an object's `type` or `role` decides which branches can be meant. */
  #ofUnion(of: readonly Type[], value: unknown, path: string): string[] {
    const branches = of.flatMap((type) => this.#branches(type));
    const meant = branches.filter((branch) => this.#canBeMeant(branch, value));
    const attempts = (meant.length > 0 ? meant : branches).map((branch) => this.faults(branch, value, path));
    return attempts.reduce((best, attempt) => (attempt.length < best.length ? attempt : best));
  }

  #branches(type: Type): Type[] {
    const real = this.#resolve(type);
    return real.kind === "union" ? real.of.flatMap((each) => this.#branches(each)) : [real];
  }

  #canBeMeant(branch: Type, value: unknown): boolean {
    if (branch.kind === "list") return Array.isArray(value);
    if (branch.kind !== "object") return typeof value !== "object" || value === null;
    if (!isObject(value)) return false;
    return ["type", "role"].every((name) => {
      const member = branch.shape.members.get(name);
      const literal = member && this.#resolve(member.type);
      return literal?.kind !== "literal" || value[name] === undefined || literal.value === value[name];
    });
  }

  #resolve(type: Type): Type {
    if (type.kind !== "name") return type;
    const declaration = this.#find(type.name, type.scope);
    if (!declaration) return type;
    declaration.type ??= this.#read(declaration);
    return this.#resolve(declaration.type);
  }

  #read({ tokens, scope, bases }: Declaration): Type {
    const reader = new TypeReader(tokens, scope);
    if (!bases) return reader.type();
    const own = reader.shape();
    for (const name of bases) {
      const base = this.#resolve({ kind: "name", name, scope });
      if (base.kind !== "object") continue;
      for (const [member, about] of base.shape.members)
        if (!own.members.has(member)) own.members.set(member, about);
      own.others ??= base.shape.others;
    }
    return { kind: "object", shape: own };
  }

  /** By the nearest namespace; a name that is imported as part of another module stands alone there. */
  #find(name: string, scope: string): Declaration | undefined {
    for (let place = scope; ; place = place.replace(/[^.]+\.$/, "")) {
      const found = this.#declared.get(place + name);
      if (found) return found;
      if (place === "") break;
    }
    const bare = name.replace(/^(?:\w+API|Shared)\./, "");
    return bare === name ? undefined : this.#declared.get(bare);
  }
}

function isObject(value: unknown): value is Value {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 60) ?? "undefined";
}
