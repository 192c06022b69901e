/** Finds the price of a target: an exact name in the config, then a pattern in the config, then the shipped price book. */
import type { PriceRule } from "../charge.ts";
import { matchesModel, namesOf } from "../../core/model-pattern.ts";
import { configuredRule, type PriceSetting, type PriceSettings } from "./settings.ts";
import { shippedSnapshot } from "./shipped.ts";
import type { Snapshot } from "./snapshot.ts";

/** Clients choose the names of models, so the number of remembered look-ups is limited. */
const MAX_FOUND = 4000;

export class PriceBook {
  readonly #exact: ReadonlyMap<string, 0 | PriceSetting>;
  /** Longer patterns first: they are more specific. */
  readonly #patterns: readonly (readonly [glob: string, setting: 0 | PriceSetting])[];
  readonly #snapshot: () => Pick<Snapshot, "find" | "lines">;
  readonly #found = new Map<string, Map<string, PriceRule | undefined>>();
  #size = 0;

  /** @param settings the section `prices` of the config */
  constructor(
    settings: PriceSettings = {},
    snapshot: () => Pick<Snapshot, "find" | "lines"> = shippedSnapshot,
  ) {
    const entries = Object.entries(settings);
    this.#exact = new Map(entries.filter(([name]) => !name.includes("*")));
    this.#patterns = entries
      .filter(([name]) => name.includes("*"))
      .sort(([one], [other]) => other.length - one.length);
    this.#snapshot = snapshot;
  }

  /**
   * The price of a target; the same object for the same target.
   * @param model the provider's name of the model @returns undefined if the price is not known
   */
  lookup(provider: string, model: string): PriceRule | undefined {
    let models = this.#found.get(provider);
    if (models?.has(model)) return models.get(model);
    if (this.#size++ >= MAX_FOUND) {
      this.#found.clear();
      this.#size = 1;
      models = undefined;
    }
    if (!models) this.#found.set(provider, (models = new Map()));
    const rule = this.#find(provider, model);
    models.set(model, rule);
    return rule;
  }

  /**
   * All rules with a name of their own, sorted by `provider/model`: those of the price book and those that the config names.
   * @param text part of `provider/model`
   */
  list(text = "", { after = "", most = Infinity }: { after?: string; most?: number } = {}): PriceRule[] {
    const shipped = this.#snapshot()
      .lines()
      .map(({ provider, model }) => `${provider}/${model}`);
    const set = [...this.#exact.keys()].filter((name) => name.includes("/"));
    const names = [...new Set([...shipped, ...set])].filter((name) => name.includes(text) && name > after);
    const rules: PriceRule[] = [];
    for (const name of names.sort()) {
      if (rules.length >= most) break;
      const slash = name.indexOf("/");
      const rule = this.#find(name.slice(0, slash), name.slice(slash + 1));
      if (rule) rules.push(rule);
    }
    return rules;
  }

  #find(provider: string, model: string): PriceRule | undefined {
    const shipped = this.#snapshot().find(provider, model);
    const setting = this.#setting(provider, model);
    const content = setting === undefined ? shipped : configuredRule(setting, { provider, model }, shipped);
    return content && withRef(content);
  }

  #setting(provider: string, model: string): 0 | PriceSetting | undefined {
    const names = namesOf(provider, model);
    const exact = this.#exact.get(`${provider}/${model}`) ?? this.#exact.get(names[0]!);
    return exact ?? this.#patterns.find(([pattern]) => matchesModel(pattern, names))?.[1];
  }
}

/** Hexadecimal digits of the reference of a rule. */
const DIGITS = 12;

/** The rule with its reference, a digest of its content, which does not depend on the order of its members. */
export function withRef(content: Omit<PriceRule, "ref">): PriceRule {
  const ref = new Bun.CryptoHasher("sha256").update(canonical(content)).digest("hex").slice(0, DIGITS);
  return { ref, ...content };
}

/** JSON with sorted members, without those that are undefined. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}
