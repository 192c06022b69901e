/** Operations on looks at models. */
import { answers, type OwnOperations } from "../../admin/operation.ts";
import { AdminError } from "../../operator/errors.ts";
import { diffLooks, listLooks, lookNow } from "./contracts.ts";
import { diffOf } from "./diff.ts";
import { newest, newestChanges } from "./rows.ts";
import { witnessPart } from "./slots.ts";

const MOST_CHANGES = 50;

const operations = [
  answers(lookNow, async ({ books, body: { models: named, dryRun } }) => {
    const part = witnessPart.get(books.offers);
    const own = part?.models();
    if (!part || !own) throw new AdminError(503, "gateway_failed", "Nothing was asked: no gateway runs.");
    const models = named ?? own;
    if (models.length === 0)
      throw new AdminError(409, "not_available", "Name a model: the config has none under witness.models.");
    const bound = await failing(() => part.bound(models));
    const observations = dryRun ? [] : await failing(() => part.look(models));
    return { json: { models, bound, observations } };
  }),
  answers(listLooks, async ({ books, query: { model, limit } }) => {
    const observations = await books.read((sql) => newest(sql, { model, limit }));
    const changes = await books.read((sql) => newestChanges(sql, MOST_CHANGES));
    return { json: { observations, changes } };
  }),
  answers(diffLooks, async ({ books, query: { a, b, model } }) => {
    const found = await books.read((sql) => diffOf(sql, a, b, model).catch((fault: Error) => fault));
    // No path names an observation, so that 404 would say that there is no such operation.
    if (found instanceof Error) throw new AdminError(409, "not_available", found.message);
    return { json: found };
  }),
];

export const admin: OwnOperations = { after: ["testAlerts", "listAlerts", "reloadConfig"], operations };

async function failing<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (thrown) {
    throw new AdminError(503, "gateway_failed", (thrown as Error).message);
  }
}
