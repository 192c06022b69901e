/** Bodies of calls that the config captures. Who may only read what calls cost must not read what they contain. */
import { actorOf } from "../../admin/entries.ts";
import type { AdminBooks } from "../../admin/books.ts";
import { AdminError, notFound } from "../../operator/errors.ts";
import { seesCall } from "../../admin/filter.ts";
import { answers, type OwnOperations } from "../../admin/operation.ts";
import { deleteCaptures, getCallBody } from "./contracts.ts";
import { liveOperation } from "./live/live-operation.ts";
import { looks } from "./looks.ts";
import { ruleOperations } from "./rule-operations.ts";

const operations = [
  answers(getCallBody, async (given) => {
    const { books, caller, params } = given;
    const id = params.id;
    const call = await books.call(id);
    if (!call || !seesCall(given, call)) throw notFound("call", id);
    const captured = await looksOf(books).read(id, actorOf(caller));
    if (captured) return { json: captured };
    throw new AdminError(
      404,
      "not_captured",
      "weir has not captured the call, or no longer keeps it; the section capture of the config says which calls it captures.",
    );
  }),
  answers(deleteCaptures, async ({ books, caller, query }) => {
    const captured = await looksOf(books).deleteAll(actorOf(caller), query.dryRun);
    return { json: { rows: captured.rows, tables: { captured } } };
  }),
  ...ruleOperations,
  liveOperation,
];

export const admin: OwnOperations = {
  after: ["getCallMoney"],
  operations,
  ofCall: (books, id) => (looks.get(books.offers)?.has(id) ? { captured: true } : undefined),
};

/** @throws AdminError 503 while the part in the keeper does not run */
function looksOf({ offers }: AdminBooks) {
  const found = looks.get(offers);
  if (found) return found;
  throw new AdminError(503, "store_failed", "The captured calls cannot be used: the keeper has not started.");
}
