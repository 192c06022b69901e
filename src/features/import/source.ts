/**
 * The document that is imported, as nodes that know what became of them. A reader says of each leaf that it reads whether
 * weir takes it over; a leaf of which no reader says anything has no counterpart. So every leaf has exactly one fate.
 */
import { type Path, writePath } from "../../core/path.ts";

/** A parsed config file. */
export interface SourceDocument {
  /** Name of the file in messages. */
  name: string;
  value: unknown;
  /** Position of the value at a path: `config.yaml:7`. */
  locate(path: Path): string;
  /** Oddities of it, one sentence each, without the full stop. */
  notes?: readonly string[];
  /** Files that it includes and that cannot be read. */
  missing?: readonly string[];
}

/**
 * `taken`: it means the same in weir. `changed`: weir has something like it, and `why` says what differs. `none`: weir has
 * nothing like it, or the import does not know it.
 */
export type Fate = "taken" | "changed" | "none";

export interface SettingOutcome {
  fate: Fate;
  /** Path in the source file: `model_list[0].litellm_params.rpm`. */
  path: string;
  /** The same for all entries of a list or a map: `model_list[].litellm_params.rpm`. */
  general: string;
  /** Position in the source file: `config.yaml:7`. */
  at: string;
  /** The value as JSON, cut after 80 characters; `***` for a secret. */
  value: string;
  /** Where in `weir.yaml` it is. */
  to?: string;
  /** Path of the node that was judged: this leaf, or one that it is below. */
  group: string;
  /** The difference, or why weir has no counterpart: a clause. */
  why?: string;
  /** The operator's remedy: a clause. */
  instead?: string;
}

/** Of a leaf without a counterpart and without a value: nothing is lost. */
const EMPTY = { fate: "taken", why: "it is empty" } as const;

/** Of a leaf of which no reader says anything. */
const UNKNOWN = { fate: "none", why: "the import does not know it" } as const;

type Verdict = Pick<SettingOutcome, "fate" | "to" | "why" | "instead" | "group">;

const SECRET_MEMBER =
  /(api_?key|secret|token|passw|credential|master_key|database_url|authorization|^key$|^value$)/i;
const MAX_SHOWN = 80;

/** All leaves of a document, each with its fate. */
export class Leaves {
  readonly #document: SourceDocument;
  readonly #hidden = new Set<string>();
  readonly #verdicts = new Map<string, Verdict & Pick<SettingOutcome, "general">>();

  constructor(document: SourceDocument) {
    this.#document = document;
  }

  /** The value is never shown. */
  hide({ path }: SourceNode): void {
    this.#hidden.add(writePath(path));
  }

  get root(): SourceNode {
    return new SourceNode(this.#document.value, [], "", this);
  }

  get name(): string {
    return this.#document.name;
  }

  locate(path: Path): string {
    return this.#document.locate(path);
  }

  /** Files that the document includes and that cannot be read. */
  get missing(): readonly string[] {
    return this.#document.missing ?? [];
  }

  /** The first verdict on a leaf holds, unless a later one says that what was taken over is lost. */
  judge({ path, general }: SourceNode, verdict: Verdict, replaces = false): void {
    const key = writePath(path);
    if (replaces || !this.#verdicts.has(key)) this.#verdicts.set(key, { ...verdict, general });
  }

  /** One outcome for each leaf, in the order of the document. */
  outcomes(): SettingOutcome[] {
    return leavesOf(this.root).map((node) => ({
      ...(this.#verdicts.get(writePath(node.path)) ?? {
        ...(isEmpty(node.value) ? EMPTY : UNKNOWN),
        general: node.general,
        group: writePath(node.path),
      }),
      path: writePath(node.path),
      at: this.locate(node.path),
      value: this.#hidden.has(writePath(node.path)) ? "***" : shownOf(node),
    }));
  }
}

/** A value of the document. */
export class SourceNode {
  readonly value: unknown;
  readonly path: Path;
  /** The path without indices and without the names of entries of maps. */
  readonly general: string;
  readonly #leaves: Leaves;

  constructor(value: unknown, path: Path, general: string, leaves: Leaves) {
    this.value = value;
    this.path = path;
    this.general = general;
    this.#leaves = leaves;
  }

  /** The name of a member, or `""` for an entry of a list. */
  get name(): string {
    const last = this.path.at(-1);
    return typeof last === "string" ? last : "";
  }

  get where(): string {
    return writePath(this.path);
  }

  get at(): string {
    return this.#leaves.locate(this.path);
  }

  /** A member of a map; `undefined` if it is absent or null. */
  member(name: string): SourceNode | undefined {
    const found = this.members.find((node) => node.name === name);
    return found?.value === null ? undefined : found;
  }

  /** The members of a map with a fixed set of names. */
  get members(): SourceNode[] {
    return this.#children((name) => (this.general === "" ? name : `${this.general}.${name}`));
  }

  /** The entries of a map whose names the operator has chosen. */
  get entries(): SourceNode[] {
    return this.#children(() => `${this.general}.NAME`);
  }

  #children(general: (name: string) => string): SourceNode[] {
    const { value } = this;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
    return Object.entries(value).map(
      ([name, inner]) => new SourceNode(inner, [...this.path, name], general(name), this.#leaves),
    );
  }

  /** The entries of a list. */
  get items(): SourceNode[] {
    return Array.isArray(this.value)
      ? this.value.map(
          (inner, index) => new SourceNode(inner, [...this.path, index], `${this.general}[]`, this.#leaves),
        )
      : [];
  }

  get text(): string | undefined {
    return typeof this.value === "string" ? this.value : undefined;
  }

  /** A number, also one that is written as a text. */
  get number(): number | undefined {
    const { value } = this;
    const isNumber = typeof value === "number" || (typeof value === "string" && /^\d+(\.\d+)?$/.test(value));
    return isNumber && Number.isFinite(Number(value)) ? Number(value) : undefined;
  }

  get isLeaf(): boolean {
    return this.members.length === 0 && this.items.length === 0;
  }

  /** The value is a secret: the report does not show it. */
  hide(): void {
    this.#leaves.hide(this);
  }

  /** All leaves below are taken over. @param to where in `weir.yaml` */
  taken(to: string): void {
    this.#judge({ fate: "taken", to });
  }

  /** Not a setting, or not set: nothing is lost. @param why as a clause */
  ignored(why: string): void {
    this.#judge({ fate: "taken", why });
  }

  /** @param why what differs, as a clause @param to where in `weir.yaml` */
  changed(why: string, to?: string): void {
    this.#judge({ fate: "changed", why, ...(to !== undefined && { to }) });
  }

  /** @param why as a clause @param instead what the operator can do, as a clause */
  dropped(why: string, instead?: string): void {
    this.#judge({ fate: "none", why, ...(instead !== undefined && { instead }) });
  }

  /** As {@link changed}, also for leaves below that were said to be taken over. */
  revised(why: string, to: string): void {
    this.#judge({ fate: "changed", why, to }, true);
  }

  /** As {@link dropped}, also for leaves below that were said to be taken over: what they make is not used. */
  lost(why: string, instead: string): void {
    this.#judge({ fate: "none", why, instead }, true);
  }

  #judge(verdict: Omit<Verdict, "group">, replaces = false): void {
    const group = this.where;
    for (const leaf of leavesOf(this)) {
      const isLost = verdict.fate === "none" && isEmpty(leaf.value);
      this.#leaves.judge(leaf, isLost ? { ...EMPTY, group } : { ...verdict, group }, replaces);
    }
  }
}

/** The leaves below a node; an empty list or map is a leaf. */
export function leavesOf(node: SourceNode): SourceNode[] {
  if (node.isLeaf) return [node];
  return [...node.members, ...node.items].flatMap(leavesOf);
}

/** Whether a value says nothing. */
export function isEmpty(value: unknown): boolean {
  return value === null || value === "" || JSON.stringify(value) === "{}" || JSON.stringify(value) === "[]";
}

/** The outcomes for people: leaves that one verdict is about become one line. */
export function collapse(outcomes: readonly SettingOutcome[]): SettingOutcome[] {
  const groups = Map.groupBy(outcomes, ({ group, fate, why = "" }) => `${group}\n${fate}\n${why}`);
  return [...groups.values()].map((group) => {
    const [first] = group;
    return group.length === 1 ? first! : { ...first!, path: first!.group, value: `${group.length} values` };
  });
}

function shownOf({ value, path }: SourceNode): string {
  const names = path.filter((step) => typeof step === "string");
  const isReference = typeof value === "string" && /^(os\.environ\/|env\.|\$)/.test(value);
  if (typeof value === "string" && !isReference && SECRET_MEMBER.test(names.at(-1) ?? "")) return "***";
  const text = JSON.stringify(value) ?? "null";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
