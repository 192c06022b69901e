/** Names of keys, models, providers and clients: for suggestions. They are read once, when the operator first types. */
import { signal } from "./signal.ts";
import { get } from "./api.ts";
import { FILTERS } from "./filters.ts";
import type { Names, UsageGroup, UsageReport } from "./types.ts";

const names = signal<Names | undefined>(undefined);
let asked = false;

export function knownNames(): Names | undefined {
  if (!asked) {
    asked = true;
    get<Names>("/names").then(
      (answer) => {
        names.value = answer;
      },
      () => {
        asked = false;
      },
    );
  }
  return names.value;
}

const MOST = 8;

/** Filters that begin with what was typed, or whose value contains it: `key:ci-bot`, `-model:gpt-5.4`. */
export function suggestionsFor(text: string): string[] {
  const known = knownNames();
  const part = text.trim().toLowerCase().replace(/^-/, "");
  if (!known || part === "") return [];
  const all = [
    ...known.keys.map(({ name }) => `key:${name}`),
    ...known.paths.map((path) => `path:${path}`),
    ...known.models.map((model) => `model:${model}`),
    ...known.asked.map((model) => `asked:${model}`),
    ...known.providers.map((provider) => `provider:${provider}`),
    ...known.deployments.map((deployment) => `deployment:${deployment}`),
    ...known.clients.map((client) => `client:${client}`),
    ...known.tags.map((tag) => `tag:${tag}`),
    ...OTHERS,
  ];
  const found = all.filter((one) => one.toLowerCase().includes(part));
  const sorted = found.sort((a, b) => Number(!a.startsWith(part)) - Number(!b.startsWith(part)));
  const isNot = text.startsWith("-");
  return (isNot ? sorted.map((one) => `-${one}`).filter(hasOpposite) : sorted).slice(0, MOST);
}

const OTHERS =
  "outcome:failed outcome:cancelled refused:any refused:budget state:uncertain state:unpriced flag:slow flag:retried flag:losses status:4xx status:5xx cost:>0.1 took:>5s tokens:>50k".split(
    " ",
  );

const hasOpposite = (text: string) => FILTERS.some((name) => text.startsWith(`${name}:`));

/** Filters for which the usage has a row for each value. */
const COUNTED = /^-?(key|path|tag|model|provider):/;

/** The group of the usage that counts what is typed. */
export function countedBy(text: string): UsageGroup | undefined {
  return COUNTED.exec(text.trim())?.[1] as UsageGroup | undefined;
}

/** Calls by suggestion: a model has the row of each of its providers. */
export function countsIn({ rows }: Pick<UsageReport, "rows">, by: UsageGroup): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { group, keyName, calls } of rows) {
    const value = group[by] ?? "";
    const names = by === "model" ? [value, value.slice(value.indexOf("/") + 1)] : [keyName ?? value];
    for (const name of new Set(names)) {
      const text = `${by}:${name}`;
      counts.set(text, (counts.get(text) ?? 0) + calls);
    }
  }
  return counts;
}
