/** Observations and comparisons as texts for people. */
import { formatNano } from "../../ledger/money.ts";
import { showTime } from "../../cli/books/show.ts";
import { table } from "../../cli/terminal.ts";
import type { DiffView, LooksView, LookView } from "./contracts.ts";

type Observed = LookView["observations"][number];
type Found = LooksView["changes"][number];

export function boundWords({ models, bound: { calls, cost, unpriced } }: LookView): string {
  const price =
    cost === undefined ? `the price of ${unpriced.join(", ")} is not known` : `${formatNano(cost)} at most`;
  return `weir asks ${models.join(", ")}: ${calls} calls; ${price}.`;
}

export function observationText({ id, at, model, cost, seen, own, hash }: Observed): string {
  const { facts, tokens, answers, speed, missing } = seen;
  const counts = (map: Readonly<Record<string, string | number>>) =>
    Object.entries(map)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ");
  const rows = [
    ["model", facts["model"] ?? "not named"],
    ["input tokens", counts(tokens)],
    ["answers", counts(answers)],
    ["events", facts["events"] ?? ""],
    ["fields", countWords(facts["fields"])],
    ["headers", countWords(facts["headers"])],
    ["error", facts["error"] ?? ""],
    ["lists", countWords(facts["listed"], "models")],
    ["speed", speedWords(speed)],
    ["weir", `${own.version}, config ${own.provider.slice(0, 12)}, plugins ${own.plugins.slice(0, 12)}`],
    ["hash", hash],
    ...Object.entries(missing).map(([name, why]) => [`no ${name}`, why]),
  ].filter(([, value]) => value !== "");
  return `${id}  ${model}  ${showTime(at)}  ${formatNano(cost)}\n${table(rows.map(([name, value]) => [`  ${name}`, value!]))}`;
}

function countWords(set: string | undefined, what = "names"): string {
  return set === undefined ? "" : `${set.split(" ").length} ${what}`;
}

function speedWords({ firstByteMs, perSecond }: Observed["seen"]["speed"]): string {
  return [
    ...(firstByteMs === undefined ? [] : [`first byte after ${firstByteMs} ms`]),
    ...(perSecond === undefined ? [] : [`${perSecond} tokens/s`]),
  ].join(", ");
}

export function listText({ observations, changes }: LooksView): string {
  if (observations.length === 0) return "no look was made";
  const seen = observations.map(({ id, at, model, seen: { tokens, speed, missing }, cost }) => [
    ...[id, showTime(at), model, String(Object.values(tokens).reduce((sum, count) => sum + count, 0))],
    ...[String(speed.firstByteMs ?? ""), String(Object.keys(missing).length), formatNano(cost)],
  ]);
  return [
    table([["OBSERVATION", "TIME (UTC)", "MODEL", "TOKENS", "FIRST BYTE MS", "MISSING", "COST"], ...seen]),
    changesText(changes),
  ].join("\n\n");
}

function changesText(changes: readonly Found[]): string {
  if (changes.length === 0) return "no change of a provider was found";
  const rows = changes.map(({ at, since, model, kind, words, evidence }) => [
    ...[showTime(at), showTime(since), model, kind, `${words} (${evidence})`],
  ]);
  return table([["FOUND (UTC)", "SINCE", "MODEL", "KIND", "CHANGE"], ...rows]);
}

const VERDICTS: Readonly<Record<DiffView["verdict"], string>> = {
  theirs: "theirs: weir asked the same in the same way, so the provider changed",
  yours: "yours: your own side changed; nothing that the provider does was seen to change",
  mixed: "yours and perhaps theirs: your own side changed, and what was seen changed too",
  same: "the same: nothing differs",
};

export function diffText(diff: DiffView): string {
  const { model, before, after, beforeAt, afterAt, verdict, theirs, yours, unclear, separate } = diff;
  return [
    `${model}: ${before} (${showTime(beforeAt)}) and ${after} (${showTime(afterAt)})`,
    VERDICTS[verdict],
    ...theirs.map(({ kind, words }) => `  theirs, ${kind}: ${words}`),
    ...yours.map(({ what, words }) => `  yours, ${what}: ${words}`),
    ...unclear.map(({ kind, words }) => `  cannot be separated, ${kind}: ${words}`),
    ...(separate === undefined ? [] : [separate]),
  ].join("\n");
}
