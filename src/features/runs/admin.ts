/** Runs for operators: their last messages are what calls contained. */
import { actorOf } from "../../admin/entries.ts";
import { answers, type OwnOperations } from "../../admin/operation.ts";
import { listRuns } from "./contracts.ts";
import { kept } from "./keeper.ts";

const operations = [
  answers(listRuns, async ({ books, caller }) => {
    const runs = (await kept.get(books.offers)?.()) ?? [];
    if (runs.length > 0) await books.note(actorOf(caller), "look", "runs");
    return { json: { runs } };
  }),
];

export const admin: OwnOperations = { after: ["getCallBody", "getCallMoney"], operations };
