/**
 * References of a config to secrets elsewhere: `${vault:secret/data/llm#openai}`. A text of the config keeps the name of a
 * reference as a mark; a {@link Secret} puts the value in its place when it is read. So a config that was read once follows a
 * value that changes.
 */
import type { LiveText } from "../core/secret.ts";
import type { Fault, Path } from "./error.ts";
import type { WrittenConfig } from "./section.ts";

/** Where a config names a reference. */
export interface Use {
  /** `vault:secret/data/llm#openai`. */
  readonly name: string;
  /** `weir.yaml:7`. */
  readonly at: string;
  readonly path: Path;
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** At which relative paths of the config begin. */
  readonly folder: string;
}

/** Reads values where they are. */
export interface ReferenceReader {
  /**
   * Reads the values of references that are not known, all at once.
   * @param written the config, for the addresses of the stores
   * @returns why values could not be read, one sentence each, by the names of their references
   */
  read(
    uses: readonly Use[],
    written: WrittenConfig,
    around: Surroundings,
  ): Promise<ReadonlyMap<string, string>>;
  /** Reads a value again, unless that was done a moment ago. It does not throw. */
  renew(name: string): Promise<void>;
}

/** The kinds of references that a build has beside `file`, and the code that reads them. */
export interface ReferenceKinds {
  readonly kinds: readonly string[];
  load(): Promise<{ open(references: References): ReferenceReader }>;
}

// Characters that YAML texts hardly ever contain, around the name of a reference.
const [OPEN, CLOSE] = ["\u0002", "\u0003"];
const MARK = new RegExp(`${OPEN}([^${CLOSE}]*)${CLOSE}`, "g");
/** A value that has gone is masked as well, as long as it is among the last of its reference. */
const MOST_OLD = 3;
/** A key of a client that was rotated is valid for so long beside the new one. Milliseconds. */
const OVERLAP_MS = 60_000;

/** All references of a process, and what is known of them. */
export class References {
  readonly kinds: readonly string[];
  readonly #load: ReferenceKinds["load"];
  readonly #values = new Map<string, string>();
  /** Values that were there before, the newest first. */
  readonly #old = new Map<string, readonly string[]>();
  /** When values were replaced. Milliseconds since 1970. */
  readonly #replacedAt = new Map<string, number>();
  #reader: Promise<ReferenceReader> | undefined;
  /** Those of the config that was read last. */
  uses: readonly Use[] = [];
  /** Why providers that are `optional` are off, by their names. */
  off: ReadonlyMap<string, string> = new Map();
  /** A value could not be read again; the last one stays in use. */
  isStale = false;
  /** All values to mask; a new list whenever one is added. */
  masked: readonly string[] = [];
  /** Increases with each change of a value. */
  #version = 0;

  readonly #listeners: (() => void)[] = [];

  constructor({ kinds, load }: ReferenceKinds) {
    this.kinds = kinds;
    this.#load = load;
  }

  value(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Calls this when a value has changed that the config has for something else than requests to providers. */
  onChange(listener: () => Promise<void> | void): void {
    this.#listeners.push(() => void Promise.resolve(listener()).catch(() => {}));
  }

  /** Tells of changed values. Requests to providers follow them by themselves. */
  changed(names: readonly string[]): void {
    const isElsewhere = this.uses.some(({ name, path }) => names.includes(name) && path[0] !== "providers");
    const isBack = [...this.off.keys()].some((provider) =>
      this.uses.some(({ name, path }) => path[1] === provider && names.includes(name)),
    );
    if (isElsewhere || isBack) for (const tell of this.#listeners) tell();
  }

  /** @returns whether the value is another one than before */
  set(name: string, value: string): boolean {
    const before = this.#values.get(name);
    if (before === value) return false;
    this.#values.set(name, value);
    this.#version++;
    if (before !== undefined) this.#replacedAt.set(name, Date.now());
    if (before !== undefined)
      this.#old.set(name, [before, ...(this.#old.get(name) ?? [])].slice(0, MOST_OLD));
    this.masked = [...new Set([...this.#values.values(), ...[...this.#old.values()].flat()])];
    return true;
  }

  /** Reads what a config names and is not known yet. @throws Error with a sentence for each reference without a value */
  async fill(uses: readonly Use[], written: WrittenConfig, around: Surroundings): Promise<void> {
    const open = uses.filter(({ name }) => !this.#values.has(name));
    const failed = open.length === 0 ? new Map<string, string>() : await this.#read(open, written, around);
    const off = new Map<string, string>();
    const faults = new Set<string>();
    for (const { name, path, at } of open) {
      const fault = failed.get(name);
      if (fault === undefined) continue;
      const provider = optionalProvider(path, written);
      if (provider === undefined) faults.add(`${at}: ${fault}`);
      else off.set(provider, fault);
    }
    if (faults.size > 0) throw new Error([...faults].join("\n"));
    this.off = off;
  }

  async #read(open: readonly Use[], written: WrittenConfig, around: Surroundings) {
    return (await this.reader()).read(open, written, around);
  }

  reader(): Promise<ReferenceReader> {
    return (this.#reader ??= this.#load().then(({ open }) => open(this)));
  }

  /** A text with marks, as a text that follows the values. */
  live(text: string): string | LiveText {
    if (!text.includes(OPEN)) return text.trim();
    const names = [...text.matchAll(MARK)].map(([, name]) => name!);
    let [known, version] = ["", -1];
    return {
      written: written(text),
      read: () => {
        if (version !== this.#version) [known, version] = [this.expand(text).trim(), this.#version];
        return known;
      },
      renew: async () => {
        const reader = await this.reader();
        await Promise.all(names.map((name) => reader.renew(name)));
      },
    };
  }

  /** A text with values in place of marks; a reference without a value stays as it is written. */
  expand(text: string): string {
    return text.replace(MARK, (_whole, name: string) => this.#values.get(name) ?? `\${${name}}`);
  }

  /**
   * A text with the values of before, for what others send to weir: they cannot all change at the same moment.
   * @returns undefined unless a value in it was replaced a moment ago
   */
  before(text: string): { text: string; until: number } | undefined {
    const names = [...text.matchAll(MARK)].map(([, name]) => name!);
    const until = Math.max(0, ...names.map((name) => (this.#replacedAt.get(name) ?? 0) + OVERLAP_MS));
    if (until <= Date.now()) return undefined;
    const old = (name: string) => this.#old.get(name)?.[0] ?? this.#values.get(name) ?? "";
    return { text: text.replace(MARK, (_whole, name: string) => old(name)), until };
  }

  /** A copy of a value of a config with values in place of marks. */
  expandAll<Value>(value: Value): Value {
    if (typeof value === "string") return this.expand(value) as Value;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item: unknown) => this.expandAll(item)) as Value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, this.expandAll<unknown>(inner)]),
    ) as Value;
  }

  /** Faults that are none of a value that is not known. */
  known(faults: readonly Fault[], written: unknown): Fault[] {
    return faults.filter(({ path }) => !this.isOpen(valueAt(written, path)));
  }

  /** Whether a value has a mark whose value is not known. */
  isOpen(value: unknown): boolean {
    if (typeof value === "string")
      return [...value.matchAll(MARK)].some(([, name]) => !this.#values.has(name!));
    return (
      typeof value === "object" && value !== null && Object.values(value).some((one) => this.isOpen(one))
    );
  }
}

/** What one reading of a config finds. */
export class Reading {
  readonly uses: Use[] = [];

  constructor(readonly references: References) {}

  /** The mark that stands for a reference. @param value if it is known already */
  mark(use: Use, value?: string): string {
    this.uses.push(use);
    if (value !== undefined) this.references.set(use.name, value);
    return `${OPEN}${use.name}${CLOSE}`;
  }
}

/** The text of a reference is no secret, all beside it may be one. */
function written(text: string): string {
  const hide = (part: string) => (part.trim() === "" ? part : "***");
  let shown = "";
  let at = 0;
  for (const match of text.matchAll(MARK)) {
    shown += `${hide(text.slice(at, match.index))}\${${match[1]}}`;
    at = match.index + match[0].length;
  }
  return shown + hide(text.slice(at));
}

/** The provider of a path that may be off because a secret of it is missing. */
function optionalProvider([section, name]: Path, written: WrittenConfig): string | undefined {
  if (section !== "providers" || typeof name !== "string") return undefined;
  return valueAt(written, ["providers", name, "optional"]) === true ? name : undefined;
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, step) =>
      typeof inner === "object" && inner !== null
        ? (inner as Record<string | number, unknown>)[step]
        : undefined,
    value,
  );
}
