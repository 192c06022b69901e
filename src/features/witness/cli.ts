/** `weir witness`, `weir witness list` and `weir witness diff`: what the operations answer, as texts. */
import { type BookContext, runConnected } from "../../cli/books/command.ts";
import { countOf, textOf } from "../../cli/books/values.ts";
import type { Command } from "../../cli/command.ts";
import { confirmed } from "../../cli/confirm.ts";
import type { DiffView, LooksView, LookView } from "./contracts.ts";
import { boundWords, diffText, listText, observationText } from "./words.ts";

type Run = Pick<Command, "run">;

const command = (run: (context: BookContext) => Promise<number | void>): Run => ({
  run: (context) => runConnected(context, run),
});

export const look = command(async ({ api, flags, show, printError }) => {
  const model = textOf(flags, "--model");
  const body = { ...(model !== undefined && { models: [model] }) };
  const path = "/witness/looks";
  const planned = await api.send<LookView>("POST", path, { body: { ...body, dryRun: true } });
  printError(boundWords(planned));
  if (flags["--dry-run"]) return 0;
  if (!(await confirmed("Send these calls?", flags))) return 1;
  const looked = await api.send<LookView>("POST", path, { body });
  show(looked, () => looked.observations.map(observationText).join("\n\n"));
  return looked.observations.some(({ seen }) => Object.keys(seen.tokens).length > 0) ? 0 : 1;
});

export const list = command(async ({ api, flags, show }) => {
  const query = { limit: countOf(flags, "--last") ?? 20, model: textOf(flags, "--model") };
  const view = await api.send<LooksView>("GET", "/witness/looks", { query });
  show(view, () => listText(view));
});

export const diff = command(async ({ api, flags, words: [a, b], show }) => {
  const query = { a: a!, b: b!, model: textOf(flags, "--model") };
  const view = await api.send<DiffView>("GET", "/witness/diff", { query });
  show(view, () => diffText(view));
  return view.verdict === "same" ? 0 : 1;
});
