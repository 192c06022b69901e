/** Models of the config that their provider turns off soon, or has turned off. */
import { endsSoon } from "../core/model-facts.ts";
import type { Frozen } from "../operator/contract.ts";
import type { Note } from "../operator/overview.ts";
import type { KnownModel } from "../operator/routing.ts";
import type { AdminBooks } from "./books.ts";

const DAY_MS = 86_400_000;

/** @returns a sentence, if the config names the model and it ends soon */
export function endOf(model: Frozen<KnownModel>, now: number): { ends?: string } {
  const { id, places, lastDay, others = [] } = model;
  if (places.length === 0 || lastDay === undefined || !endsSoon({ deprecatedOn: lastDay }, now)) return {};
  const days = Math.ceil((Date.parse(lastDay) - now) / DAY_MS);
  const far = days === 1 ? "in one day" : `in ${days} days`;
  const when = days > 0 ? `ends on ${lastDay}, ${far}` : `was to end on ${lastDay}`;
  const next =
    others.length === 0
      ? "Name another model there"
      : `Calls can go on at ${others.join(", ")}, which the config names beside it`;
  return { ends: `${id} (${places.join(", ")}) ${when}. ${next}.` };
}

/** The facts are read at most this often. Milliseconds. */
const LOOK_MS = 60_000;
const looks = new WeakMap<AdminBooks, { at: number; models: readonly Frozen<KnownModel>[] }>();

/** By the last look at the facts: the worker reads them while the page goes on. @param now milliseconds since 1970 */
export function notesOfEnds(books: AdminBooks, now: number): Note[] {
  const { at, models } = looks.get(books) ?? { at: 0, models: [] };
  if (now - at >= LOOK_MS || now < at) {
    looks.set(books, { at: now, models });
    void books.gateway.ask({ what: "model-facts", models: [] }).then(
      (found) => looks.set(books, { at: now, models: found }),
      () => looks.delete(books),
    );
  }
  return models.flatMap((model): Note[] => {
    const { ends } = endOf(model, now);
    return ends === undefined ? [] : [{ kind: "model-ends", level: "warn", subject: model.id, text: ends }];
  });
}
