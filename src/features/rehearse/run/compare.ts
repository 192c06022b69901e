/** The differences between what two sides would do with a call, by their causes. */
import { isObject, type Json, parseJson } from "../../../core/json.ts";
import type { Facts } from "./facts.ts";

/** Why a call is not what it was. `guard`: what guards and other features would do; `tools`: the tools that weir would add or run. */
export const CAUSES = ["target", "body", "header", "loss", "price", "refused", "guard", "tools"] as const;

export type Cause = (typeof CAUSES)[number];

export interface Difference {
  readonly cause: Cause;
  /** What differs, the same for all calls that differ alike: `messages[].cache_control`, `anthropic-beta`. */
  readonly what: string;
  readonly before: Json;
  readonly after: Json;
}

/** The paths of one call at most: one change may be at each of its messages. */
const MOST_PATHS = 20;

/** @returns empty: both sides do the same */
export function differences(before: Facts, after: Facts): Difference[] {
  const refused = refusals(before, after);
  if (refused.length > 0 || before.refused || after.refused) return refused;
  return [
    ...targets(before, after),
    ...bodies(before.body, after.body),
    ...headers(before, after),
    ...losses(before, after),
    ...prices(before, after),
    ...plugins(before, after),
  ];
}

function refusals(before: Facts, after: Facts): Difference[] {
  const [one, other] = [before, after].map(
    ({ refused }) => refused && `${refused.code ?? refused.kind}: ${refused.message}`,
  );
  if (one === other) return [];
  const what =
    other === undefined ? "no longer refused" : one === undefined ? "now refused" : "refused otherwise";
  const code = (after.refused ?? before.refused)!;
  return [
    {
      cause: "refused",
      what: `${what} (${code.code ?? code.kind})`,
      before: one ?? null,
      after: other ?? null,
    },
  ];
}

function targets(before: Facts, after: Facts): Difference[] {
  for (const name of ["target", "lane", "format", "url"] as const) {
    const [one, other] = [before[name], after[name]];
    if (one !== other)
      return [
        difference(
          "target",
          name === "url" ? `address of ${before.target}` : `${one} -> ${other}`,
          one ?? null,
          other ?? null,
        ),
      ];
  }
  const [one, other] = [before, after].map(({ targets = [] }) => targets.join(", "));
  return one === other ? [] : [difference("target", "choices and fallbacks", one!, other!)];
}

function bodies(before: string | undefined, after: string | undefined): Difference[] {
  if (before === after) return [];
  const [one, other] = [before, after].map((text) => (text === undefined ? null : (parseJson(text) ?? text)));
  const found = new Map<string, Difference>();
  paths(one!, other!, "", (what, was, is) => {
    if (found.size < MOST_PATHS && !found.has(what)) found.set(what, difference("body", what, was, is));
  });
  if (found.size === 0) return [difference("body", "spelling", before!, after!)];
  return [...found.values()];
}

function paths(
  before: Json | undefined,
  after: Json | undefined,
  path: string,
  found: (what: string, before: Json, after: Json) => void,
): void {
  if (before === after) return;
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (let at = 0; at < before.length; at++) paths(before[at], after[at], `${path}[]`, found);
  } else if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
      paths(before[name], after[name], path === "" ? name : `${path}.${name}`, found);
  } else if (JSON.stringify(before) !== JSON.stringify(after)) {
    const what = before === undefined ? `${path} (added)` : after === undefined ? `${path} (gone)` : path;
    found(what === "" ? "whole" : what, before ?? null, after ?? null);
  }
}

function headers(before: Facts, after: Facts): Difference[] {
  const [one, other] = [before.headers ?? {}, after.headers ?? {}];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((name) =>
    one[name] === other[name] || name === "content-length"
      ? []
      : [difference("header", name, one[name] ?? null, other[name] ?? null)],
  );
}

function losses(before: Facts, after: Facts): Difference[] {
  const wordsOf = ({ losses: all = [] }: Facts) =>
    new Set(all.map(({ code, path }) => `${code}:${path.replace(/\d+/g, "")}`));
  const [one, other] = [wordsOf(before), wordsOf(after)];
  return [...new Set([...one, ...other])].flatMap((what) =>
    one.has(what) === other.has(what)
      ? []
      : [
          difference(
            "loss",
            `${what} (${other.has(what) ? "added" : "gone"})`,
            one.has(what),
            other.has(what),
          ),
        ],
  );
}

function prices(before: Facts, after: Facts): Difference[] {
  if (before.price === after.price && before.priced === after.priced) return [];
  const [one, other] = [before.price, after.price];
  const isRatio = one !== undefined && other !== undefined && one > 0;
  const percent = isRatio ? Math.round(((other - one) / one) * 1000) / 10 : undefined;
  const what =
    percent === undefined ? `${before.priced} -> ${after.priced}` : `${percent > 0 ? "+" : ""}${percent} %`;
  return [difference("price", what, one ?? null, other ?? null)];
}

function plugins(before: Facts, after: Facts): Difference[] {
  const [one, other] = [before.plugins ?? {}, after.plugins ?? {}];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((name) =>
    JSON.stringify(one[name]) === JSON.stringify(other[name])
      ? []
      : [difference(name === "tools" ? "tools" : "guard", name, one[name] ?? null, other[name] ?? null)],
  );
}

function difference(cause: Cause, what: string, before: Json, after: Json): Difference {
  return { cause, what, before, after };
}
