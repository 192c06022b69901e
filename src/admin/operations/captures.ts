/** Bodies of calls that the config captures. Who may only read what calls cost must not read what they contain. */
import { actorOf } from "../entries.ts";
import { AdminError, notFound } from "../../operator/errors.ts";
import { seesCall } from "../filter.ts";
import { answers } from "../operation.ts";
import { deleteCaptures, getCallBody } from "../../operator/captures.ts";

export const captureOperations = [
  answers(getCallBody, async (given) => {
    const { books, caller, params } = given;
    const id = params.id;
    const call = await books.call(id);
    if (!call || !seesCall(given, call)) throw notFound("call", id);
    const captured = await books.captures.read(id, actorOf(caller));
    if (captured) return { json: captured };
    throw new AdminError(
      404,
      "not_captured",
      "weir has not captured the call, or no longer keeps it; the section capture of the config says which calls it captures.",
    );
  }),
  answers(deleteCaptures, async ({ books, caller, query }) => {
    const captured = await books.captures.deleteAll(actorOf(caller), query.dryRun);
    return { json: { rows: captured.rows, tables: { captured } } };
  }),
];
