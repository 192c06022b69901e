/** The names of the books by number, and which callers and targets a filter selects. */
import { matchesAny, namesOf } from "../../core/model-pattern.ts";
import type { PriceRule } from "../../ledger/charge.ts";
import { type NameKind, parseCaller, parseTarget } from "../store/names.ts";
import type { Sql } from "../store/sql.ts";
import type { Filter } from "./shapes.ts";

type Caller = ReturnType<typeof parseCaller>;
type Target = ReturnType<typeof parseTarget>;

/** Most names that a search by text takes into account. */
const MOST_FOUND = 2_000;

/** Names are only ever added, except that those of a removed key are replaced: see {@link Directory.forget}. */
export class Directory {
  readonly #sql: Sql;
  readonly callers = new Map<number, Caller>();
  readonly targets = new Map<number, Target>();
  #last = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Reads callers and targets that were added. */
  async refresh(): Promise<void> {
    const rows = await this.#sql.all<{ id: number; kind: string; text: string }>(
      "SELECT id, kind, text FROM names WHERE id > $1 AND kind IN ('caller', 'target') ORDER BY id",
      [this.#last],
    );
    for (const { id, kind, text } of rows) {
      if (kind === "caller") this.callers.set(id, parseCaller(text));
      else this.targets.set(id, parseTarget(text));
      this.#last = id;
    }
  }

  /** Reads all names anew at the next refresh. */
  forget(): void {
    this.callers.clear();
    this.targets.clear();
    this.#last = 0;
  }

  /** @returns the numbers of the callers that a filter selects; undefined if it selects all */
  callersOf({ within, key, path, tag }: Filter): number[] | undefined {
    const everywhere = within === undefined || within === "/";
    if (everywhere && key === undefined && path === undefined && tag === undefined) return undefined;
    return numbersOf(
      this.callers,
      (caller) =>
        (everywhere || isWithin(caller.path, within)) &&
        (key === undefined || caller.key === key) &&
        (path === undefined || isWithin(caller.path, path)) &&
        (tag === undefined || caller.tags.includes(tag)),
    );
  }

  /** @returns the numbers of the targets that a filter selects; undefined if it selects all */
  targetsOf({ model, provider, deployment }: Filter & { deployment?: string }): number[] | undefined {
    if (model === undefined && provider === undefined && deployment === undefined) return undefined;
    return numbersOf(
      this.targets,
      (target) =>
        (model === undefined || matchesAny(model, namesOf(target.provider, target.model))) &&
        (provider === undefined || target.provider === provider) &&
        (deployment === undefined || target.deployment === deployment),
    );
  }

  /** Numbers of the names by which clients asked for models and which one of the patterns matches. */
  async asked(patterns: readonly string[]): Promise<number[]> {
    const [only = ""] = patterns;
    if (patterns.length === 1 && !only.includes("*")) return this.find("model", "is", only);
    const rows = await this.#sql.all<{ id: number; text: string }>(
      `SELECT id, text FROM names WHERE kind = 'model'`,
      [],
    );
    return rows.filter(({ text }) => matchesAny(patterns, [text])).map(({ id }) => id);
  }

  /** Numbers of names of a kind whose text is, begins with or contains a text; upper and lower case are the same in the latter. */
  async find(kind: NameKind, how: "is" | "begins" | "contains", text: string): Promise<number[]> {
    const condition = {
      is: "text = $2",
      begins: "substr(text, 1, length($2)) = $2",
      contains: "lower(text) LIKE $2 ESCAPE '!'",
    }[how];
    const wanted =
      how === "contains" ? `%${text.toLowerCase().replaceAll(/[!%_]/g, (sign) => `!${sign}`)}%` : text;
    const rows = await this.#sql.all<{ id: number }>(
      `SELECT id FROM names WHERE kind = $1 AND ${condition} LIMIT ${MOST_FOUND}`,
      [kind, wanted],
    );
    return rows.map(({ id }) => id);
  }

  /** Names of any kind. */
  async texts(ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const unique = [...new Set(ids)];
    if (unique.length === 0) return new Map();
    const rows = await this.#sql.all<{ id: number; text: string }>(
      `SELECT id, text FROM names WHERE id ${inList(unique)}`,
    );
    return new Map(rows.map(({ id, text }) => [id, text]));
  }

  /** References of prices by number. */
  async prices(): Promise<ReadonlyMap<number, string>> {
    const rows = await this.#sql.all<{ id: number; ref: string }>("SELECT id, ref FROM prices");
    return new Map(rows.map(({ id, ref }) => [id, ref]));
  }

  /** The rules of all prices. */
  async rules(): Promise<PriceRule[]> {
    const rows = await this.#sql.all<{ rule: string }>(
      "SELECT rule FROM prices WHERE rule <> '' ORDER BY provider, model, id",
    );
    return rows.map(({ rule }) => JSON.parse(rule) as PriceRule);
  }

  /** The rules with these references, as far as they are in the store. */
  async rulesOf(refs: readonly string[]): Promise<Map<string, PriceRule>> {
    if (refs.length === 0) return new Map();
    const places = refs.map((_, at) => `$${at + 1}`).join(", ");
    const rows = await this.#sql.all<{ rule: string }>(
      `SELECT rule FROM prices WHERE rule <> '' AND ref IN (${places})`,
      [...refs],
    );
    const rules = rows.map(({ rule }) => JSON.parse(rule) as PriceRule);
    return new Map(rules.map((rule) => [rule.ref, rule]));
  }
}

/** A condition on a column of integers. */
export function inList(ids: readonly number[]): string {
  return ids.length === 0 ? "IN (NULL)" : `IN (${ids.join(", ")})`;
}

/** Whether a path is another one or below it. */
export function isWithin(path: string, parent: string): boolean {
  return parent === "/" || path === parent || path.startsWith(`${parent}/`);
}

function numbersOf<Value>(values: ReadonlyMap<number, Value>, is: (value: Value) => boolean): number[] {
  const numbers: number[] = [];
  for (const [id, value] of values) if (is(value)) numbers.push(id);
  return numbers;
}
