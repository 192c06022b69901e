/** Numbers for the texts that repeat in the books. */
import type { PriceRule } from "../../ledger/charge.ts";
import type { AttemptRecord, CallRecord } from "../../ledger/record.ts";
import type { Sql } from "./sql.ts";

/** `caller`, `target` and `accounts` are JSON arrays: see {@link callerOf}, {@link targetOf}, {@link accountsOf}. */
export type NameKind =
  "model" | "format" | "client" | "error" | "finish" | "tier" | "caller" | "target" | "accounts";

/** Most names in memory. Clients choose some of them. */
const KNOWN = 50_000;

type Caller = Pick<CallRecord, "key" | "path" | "tags">;
type Target = Pick<AttemptRecord, "provider" | "deployment" | "model">;

/** Most names of each kind whose text is remembered, and the longest of them. Characters. */
const REMEMBERED = 1_000;
const LONGEST = 512;
const callers = new Map<string, Caller & { name: string }>();
const targets = new Map<string, Map<string, Target & { name: string }>>();
const accounts = new WeakMap<readonly string[], string>();

/** Calls of one key mostly have one path and one list of tags: see `sharedList` of ../../ledger/record-reader.ts. */
export function callerOf({ key, path, tags }: Caller): string {
  const known = callers.get(key ?? "");
  if (known && known.path === path && known.tags === tags) return known.name;
  const name = JSON.stringify([key ?? "", path ?? "/", tags ?? []]);
  if (name.length > LONGEST) return name;
  if (callers.size >= REMEMBERED) callers.clear();
  callers.set(key ?? "", { key, path, tags, name });
  return name;
}

export function targetOf({ provider, deployment, model }: Target): string {
  const known = targets.get(deployment)?.get(model);
  if (known && known.provider === provider) return known.name;
  const name = JSON.stringify([provider, deployment, model]);
  if (name.length > LONGEST) return name;
  let models = targets.get(deployment);
  if (!models || models.size >= REMEMBERED) {
    if (targets.size >= REMEMBERED) targets.clear();
    targets.set(deployment, (models = new Map()));
  }
  models.set(model, { provider, deployment, model, name });
  return name;
}

/** The accounts of an attempt. Attempts of one batch with the same accounts have the same list. */
export function accountsOf({ accounts: list }: Pick<AttemptRecord, "accounts">): string {
  const known = accounts.get(list);
  if (known !== undefined) return known;
  const name = JSON.stringify(list);
  // Others can be changed.
  if (Object.isFrozen(list)) accounts.set(list, name);
  return name;
}

/** The caller that has the sums of keys whose calls were removed. */
export const REMOVED_CALLER = JSON.stringify(["removed", "/", []]);

/** The content of a name of kind `caller`. */
export function parseCaller(text: string): { key: string; path: string; tags: string[] } {
  const [key, path, tags] = JSON.parse(text) as [string, string, string[]];
  return { key, path, tags };
}

/** The content of a name of kind `target`. */
export function parseTarget(text: string): { provider: string; deployment: string; model: string } {
  const [provider, deployment, model] = JSON.parse(text) as [string, string, string];
  return { provider, deployment, model };
}

/** Names are written before the rows that use them, in a transaction of their own, so what is in memory is in the store. */
export class Names {
  readonly #sql: Sql;
  readonly #ids = new Map<NameKind, Map<string, number>>();
  /** Number of names in `#ids`. */
  #size = 0;
  readonly #prices = new Map<string, number>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** @throws Error if the name was not among those of {@link load} */
  id(kind: NameKind, text: string): number {
    const id = this.#ids.get(kind)?.get(text);
    if (id === undefined) throw new Error(`the name ${text} (${kind}) has no number`);
    return id;
  }

  price(ref: string): number {
    const id = this.#prices.get(ref);
    if (id === undefined) throw new Error(`the price ${ref} has no number`);
    return id;
  }

  /** Gives all names of calls a number. @param more other texts that rows have as numbers */
  async load(
    calls: readonly CallRecord[],
    more: readonly (readonly [NameKind, string])[] = [],
  ): Promise<void> {
    if (this.#size > KNOWN) {
      this.#ids.clear();
      this.#size = 0;
    }
    const wanted = new Map<string, [NameKind, string]>();
    const add = (kind: NameKind, text: string) => {
      if (!this.#ids.get(kind)?.has(text)) wanted.set(`${kind} ${text}`, [kind, text]);
    };
    for (const call of calls) {
      add("caller", callerOf(call));
      add("model", call.model);
      add("format", call.format);
      if (call.client !== undefined) add("client", call.client);
      if (call.error) add("error", errorOf(call.error));
      if (call.finish !== undefined) add("finish", call.finish);
      for (const attempt of call.attempts) {
        add("target", targetOf(attempt));
        add("accounts", accountsOf(attempt));
        if (attempt.usage.tier !== undefined) add("tier", attempt.usage.tier);
      }
    }
    for (const [kind, text] of more) add(kind, text);
    if (wanted.size === 0) return;
    // One order for all nodes: inserts of the same rows in different orders would wait for each other.
    const rows = [...wanted].sort(byName).map(([, row]) => row);
    await this.#sql.insert("names", ["kind", "text"], rows, "ON CONFLICT DO NOTHING");
    for (const [kind, text] of rows) {
      const [row] = await this.#sql.all<{ id: number }>(
        "SELECT id FROM names WHERE kind = $1 AND text = $2",
        [kind, text],
      );
      this.#note(kind, text, row!.id);
    }
  }

  #note(kind: NameKind, text: string, id: number): void {
    let ids = this.#ids.get(kind);
    if (!ids) this.#ids.set(kind, (ids = new Map()));
    if (!ids.has(text)) this.#size++;
    ids.set(text, id);
  }

  /** Gives prices a number. A rule that is used and was never sent is stored without content: the audit shows it. */
  async loadPrices(rules: readonly PriceRule[], calls: readonly CallRecord[], now: number): Promise<void> {
    const given = new Map(rules.map((rule) => [rule.ref, rule]));
    for (const { attempts } of calls)
      for (const { charge, provider, model } of attempts) {
        const { price: ref } = charge;
        if (ref !== undefined && !given.has(ref) && !this.#prices.has(ref))
          given.set(ref, { ref, provider, model, source: "" });
      }
    for (const [ref, { provider, model, source, ...rest }] of given) {
      const rule = source === "" ? "" : JSON.stringify({ ...rest, provider, model, source });
      await this.#sql.run(
        `INSERT INTO prices (ref, provider, model, rule, source, added_at) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (ref) DO UPDATE SET rule = excluded.rule, source = excluded.source WHERE prices.rule = ''`,
        [ref, provider, model, rule, source, now],
      );
      const [row] = await this.#sql.all<{ id: number }>("SELECT id FROM prices WHERE ref = $1", [ref]);
      this.#prices.set(ref, row!.id);
    }
  }
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

export function errorOf({ kind, code }: NonNullable<CallRecord["error"]>): string {
  return code === undefined ? kind : `${kind}/${code}`;
}
