/** The operations on rules of operators: who may look at the bodies of calls may have them captured. */
import { actorOf, findKey, newId } from "../../admin/entries.ts";
import { seesCall } from "../../admin/filter.ts";
import { type AdminRequest, answers } from "../../admin/operation.ts";
import { AdminError, invalid, notFound } from "../../operator/errors.ts";
import { PATH } from "../../operator/shapes.ts";
import { type CaptureRule, createCaptureRule, deleteCaptureRule, listCaptureRules } from "./contracts.ts";
import { type RuleBook, ruleBook } from "./rule-book.ts";

const HASH = /^[0-9a-f]{16}$/;
const WRITTEN_PATH = new RegExp(PATH.pattern!);

type Given = Pick<AdminRequest, "books" | "caller">;

export const ruleOperations = [
  answers(listCaptureRules, async (given) => {
    const book = bookOf(given);
    const rules = (await book.list()).filter((rule) => seesCall(given, rule));
    return { json: { rules, ...(book.isOff && { off: "capture.onDemand" }) } };
  }),
  answers(createCaptureRule, async (given) => {
    const { body, caller, now } = given;
    const book = bookOf(given);
    book.expectOn();
    const { on, path } = await subjectOf(given, body.on);
    const actor = actorOf(caller);
    const endsAt = now + body.minutes * 60_000;
    const rule: CaptureRule = { id: newId("cap_"), on, path, by: actor.actor, createdAt: now, endsAt };
    await book.add(rule, actor);
    return { json: rule };
  }),
  answers(deleteCaptureRule, async (given) => {
    const { caller, params } = given;
    const book = bookOf(given);
    const rule = (await book.list()).find(({ id }) => id === params.id);
    if (!rule || !seesCall(given, rule)) throw notFound("rule", params.id);
    await book.remove(rule, actorOf(caller));
    return { json: { id: rule.id, deleted: true as const } };
  }),
];

/** @returns it, and where it lies @throws AdminError 400, 403, 404 */
async function subjectOf(
  given: Given,
  { kind, what }: CaptureRule["on"],
): Promise<Pick<CaptureRule, "on" | "path">> {
  const { books, caller } = given;
  if (kind === "key") {
    const { id, path, kind: ofKey } = findKey(given, what);
    if (ofKey !== "call") throw invalid("Choose a key for calls.", "/on/what");
    return { on: { kind, what: id }, path };
  }
  if (kind === "path") {
    if (!WRITTEN_PATH.test(what)) throw invalid("what must be a path such as /eng/search.", "/on/what");
    if (!seesCall({ caller }, { path: what }))
      throw new AdminError(403, "not_permitted", `This key may act only on ${caller.path} and below.`);
    return { on: { kind, what }, path: what };
  }
  const found = HASH.test(what)
    ? await books.calls({ session: what, within: caller.path, limit: 1 })
    : undefined;
  const [call] = found?.calls ?? [];
  if (!call) throw notFound("session", what);
  return { on: { kind, what }, path: call.path ?? "/" };
}

/** @throws AdminError 503 while the part in the keeper does not run */
function bookOf({ books }: Pick<Given, "books">): RuleBook {
  const found = ruleBook.get(books.offers);
  if (found) return found;
  throw new AdminError(503, "store_failed", "Calls cannot be captured: the keeper has not started.");
}
