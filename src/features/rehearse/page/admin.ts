/** Answers the operations of rehearsals. */
import { resolve } from "node:path";
import type { AdminBooks } from "../../../admin/books.ts";
import { actorOf } from "../../../admin/entries.ts";
import { answers, type OwnOperations } from "../../../admin/operation.ts";
import { ConfigError } from "../../../config/error.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { digestOf } from "../../../ledger/keys/form.ts";
import { AdminError } from "../../../operator/errors.ts";
import type { EffectiveConfig } from "../../../operator/config.ts";
import { nameOfPasted, rehearsePasted } from "./child.ts";
import { getOutlines, type RehearsalReport, rehearseConfig } from "./contracts.ts";
import { summarize } from "./outlines.ts";
import { expectPasteable } from "./pasted.ts";
import { type Rehearsals, rehearsals } from "./slots.ts";

const NONE: Rehearsals = { folder: undefined, isRunning: false, counted: new Map() };

const operations = [
  answers(rehearseConfig, async ({ books, caller, body, signal }) => {
    const place = rehearsals.get(books.offers) ?? NONE;
    if (place.isRunning)
      throw new AdminError(409, "rehearsal_running", "Another rehearsal runs; one runs at a time.");
    place.isRunning = true;
    try {
      const state = await expectOutlines(place);
      const { file, files, plugins } = await configOf(books);
      expectConfig(body.config, file, files);
      const facts = { config: digestOf(body.config), last: body.last, since: body.since };
      await books.note(actorOf(caller), "rehearse", "rehearsals", facts);
      const { config: text, last, since } = body;
      const outcome = await rehearsePasted({ text, file, plugins, state, last, since, signal });
      if (outcome.kind === "done") return { json: reportOf(outcome.report, outcome.notes) };
      if (outcome.kind === "empty") throw notThere("No call with an outline began in this time.");
      if (outcome.kind === "refused") throw refused(outcome.why);
      throw new AdminError(503, "rehearsal_failed", outcome.why);
    } finally {
      place.isRunning = false;
    }
  }),
  answers(getOutlines, async ({ books }) => ({
    json: await summarize(rehearsals.get(books.offers) ?? NONE),
  })),
];

export const admin: OwnOperations = { after: ["reloadConfig", "listCalls"], operations };

/** @returns the state folder @throws AdminError 409 */
async function expectOutlines(place: Rehearsals): Promise<string> {
  if (place.folder !== undefined && (await summarize(place)).number > 0) return place.folder;
  throw notThere(
    "There are no outlines. weir keeps them with `rehearse.outlines: on`, or where a state folder is named.",
  );
}

/** The files of the config, and the folder of plugins if a flag names it. */
async function configOf(books: AdminBooks) {
  const { file, options } = (await books.gateway.ask({ what: "config" })) as EffectiveConfig;
  const valueOf = (path: string) => options.find((option) => option.path === path);
  const included = valueOf("include")?.value;
  const plugins = valueOf("plugins.dir");
  return {
    file: file === undefined ? undefined : resolve(file),
    files: [file ?? [], included ?? []].flat().map((name) => resolve(String(name))),
    plugins: plugins?.source === "flag" ? resolve(String(plugins.value)) : undefined,
  };
}

/** @throws AdminError 400 */
function expectConfig(text: string, file: string | undefined, files: readonly string[]): void {
  try {
    expectPasteable(text, nameOfPasted(file), files);
  } catch (fault) {
    if (fault instanceof ConfigError) throw refused(fault.message);
    throw fault;
  }
}

function notThere(why: string): AdminError {
  return new AdminError(409, "not_available", why);
}

function refused(why: string): AdminError {
  return new AdminError(400, "config_refused", why, { path: "/config" });
}

/** The report without the lists of single calls, which may be long. */
function reportOf(report: JsonObject, notes: readonly string[]): RehearsalReport {
  const { changes: _, unknown, ...rest } = report;
  const counts = new Map<string, number>();
  for (const one of Array.isArray(unknown) ? unknown : [])
    for (const why of isObject(one) && Array.isArray(one["why"]) ? one["why"] : [])
      counts.set(String(why), (counts.get(String(why)) ?? 0) + 1);
  const reasons = [...counts].map(([why, calls]) => ({ why, calls })).sort((a, b) => b.calls - a.calls);
  const assumed = notes.find((note) => note.startsWith("credentials of "));
  return {
    ...(rest as unknown as Omit<RehearsalReport, "reasons" | "damaged" | "assumed">),
    reasons,
    damaged: notes.some((note) => note.includes(" of the outlines are damaged")),
    ...(assumed !== undefined && { assumed }),
  };
}
