/** Names of keys, models, providers and clients: for suggestions. They are read once, when the operator first types. */
import { signal } from "./signal.ts";
import { get } from "./api.ts";
import type { Names } from "./types.ts";

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

/** Filters that begin with what was typed, or whose value contains it: `key:ci-bot`. */
export function suggestionsFor(text: string): string[] {
  const known = knownNames();
  if (!known) return [];
  const all = [
    ...known.keys.map(({ name }) => `key:${name}`),
    ...known.paths.map((path) => `path:${path}`),
    ...known.models.map((model) => `model:${model}`),
    ...known.asked.map((model) => `asked:${model}`),
    ...known.providers.map((provider) => `provider:${provider}`),
    ...known.deployments.map((deployment) => `deployment:${deployment}`),
    ...known.clients.map((client) => `client:${client}`),
    ...known.tags.map((tag) => `tag:${tag}`),
    "outcome:failed",
    "outcome:cancelled",
    "refused:any",
    "refused:budget",
    "state:uncertain",
    "state:unpriced",
    "flag:slow",
    "flag:retried",
    "flag:losses",
  ];
  const part = text.trim().toLowerCase();
  const found = all.filter((one) => one.toLowerCase().includes(part));
  return found.sort((a, b) => Number(!a.startsWith(part)) - Number(!b.startsWith(part))).slice(0, MOST);
}
