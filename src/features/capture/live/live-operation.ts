/** The operation that shows a running call to those who may look at bodies. */
import { actorOf } from "../../../admin/entries.ts";
import { seesCall } from "../../../admin/filter.ts";
import { answers } from "../../../admin/operation.ts";
import { AdminError, notFound } from "../../../operator/errors.ts";
import { watchCall } from "../contracts.ts";
import { ruleBook } from "../rule-book.ts";
import { liveStream } from "./live-stream.ts";
import { liveViews } from "./live-views.ts";

export const liveOperation = answers(watchCall, async (given) => {
  const { books, caller, params } = given;
  const views = liveViews.get(books.offers);
  if (!views)
    throw new AdminError(503, "store_failed", "Calls cannot be watched: the keeper has not started.");
  ruleBook.get(books.offers)?.expectOn();
  const view = await views.join(params.id);
  try {
    if (!seesCall(given, view.facts!)) throw notFound("running call", params.id);
    if (view.isForbidden)
      throw new AdminError(403, "not_permitted", "The client of the call sent x-weir-capture: no.");
    await books.note(actorOf(caller), "look", `calls/${params.id}/live`);
  } catch (thrown) {
    views.leave(view);
    throw thrown;
  }
  const text = liveStream({ views, view, isAllowed: () => given.isAllowed() });
  return { text, type: "text/event-stream; charset=utf-8" };
});
