/** Answers the operations that send captured calls again. */
import type { AdminBooks } from "../../admin/books.ts";
import { actorOf } from "../../admin/entries.ts";
import { seesCall } from "../../admin/filter.ts";
import { keptBodies, type KeptBody } from "../../admin/kept-bodies.ts";
import { type AdminRequest, answers, type OwnOperations } from "../../admin/operation.ts";
import { explainTrial, relayed, sendTrial } from "../../admin/relay.ts";
import { isObject, type JsonObject, parseJson } from "../../core/json.ts";
import { AdminError, notFound } from "../../operator/errors.ts";
import { RELAYED, type Trial } from "../../operator/routing.ts";
import { explainReplay, replayCall } from "./contracts.ts";
import { faultOf, toolsIn } from "./kept.ts";
import { marks } from "./keeper.ts";
import { MARK_HEADER } from "./mark.ts";
import { planOf } from "./plan.ts";

const operations = [
  answers(explainReplay, async (given) => {
    const { call, kept, body, trial } = await prepared(given, given.params.id, given.body);
    const response = await explainTrial(given, trial);
    const plan = planOf(response.status, parseJson(await response.text()));
    return {
      json: {
        ...{ format: call.format, stream: call.stream, bytes: kept.request.length },
        masked: kept.replaced?.includes("secrets") === true,
        tools: toolsIn(body),
        ...plan,
      },
    };
  }),
  answers(replayCall, async (given) => {
    const { books, caller, params, now } = given;
    const { trial } = await prepared(given, params.id, given.body);
    if (!given.body.runTools) await expectNoRuns(given, trial);
    const mark = marks.get(books.offers);
    if (!mark) throw new AdminError(503, "gateway_failed", "The keeper has not started.");
    const headers = { ...trial.headers, [MARK_HEADER]: await mark(params.id, now) };
    await books.note(actorOf(caller), "replay", `calls/${params.id}/body`, { model: trial.body["model"] });
    return { relayed: relayed(await sendTrial(given, { ...trial, headers }), RELAYED) };
  }),
];

export const admin: OwnOperations = { after: ["getCallBody", "getCallMoney"], operations };

interface Wanted {
  model?: string;
  key?: string;
}

/** @throws AdminError 404 `not_found` or `not_captured`, 409 `not_repeatable`, 503 */
async function prepared(given: Pick<AdminRequest, "books" | "caller">, id: string, wanted: Wanted) {
  const { books } = given;
  const call = await books.call(id);
  if (!call || !seesCall(given, call)) throw notFound("call", id);
  const kept = keptBodies.get(books.offers)?.body(id);
  if (!kept)
    throw new AdminError(
      404,
      "not_captured",
      "weir did not keep what this call asked, so it cannot be sent again. The section capture of the config keeps the next calls of a key.",
    );
  const body = expectBody(kept);
  await expectPath(books, call.format);
  const key = wanted.key ?? call.key;
  const trial: Trial = {
    format: call.format,
    body: { ...body, model: wanted.model ?? call.model },
    ...(key !== undefined && key !== "" && { key }),
    ...(kept.asked && { headers: kept.asked }),
  };
  return { call, kept, body, trial };
}

/** @throws AdminError 409 */
function expectBody(kept: KeptBody): JsonObject {
  const fault = faultOf(kept);
  const body = fault === undefined ? parseJson(kept.request) : undefined;
  if (isObject(body)) return body;
  throw new AdminError(409, "not_repeatable", fault ?? "The request was not kept as JSON.");
}

/** @throws AdminError 409 for a format whose address names the model, 503 */
async function expectPath(books: AdminBooks, format: string): Promise<void> {
  const { formats } = await books.gateway.ask({ what: "models" });
  const path = formats.find(({ id }) => id === format)?.path;
  if (path !== undefined && !path.includes("{")) return;
  throw new AdminError(
    409,
    "not_repeatable",
    `The address of a request of the format ${format} names the model, so it cannot be sent from here; “Copy as curl” on the page of the call has it.`,
  );
}

/** Tools may change things outside: they run again only if the operator says so. @throws AdminError 409, and as the explanation */
async function expectNoRuns(given: AdminRequest, trial: Trial): Promise<void> {
  const response = await explainTrial(given, trial);
  const { runs, isHidden } = planOf(response.status, parseJson(await response.text()));
  if (runs.length === 0 && !isHidden) return;
  throw new AdminError(
    409,
    "tools_would_run",
    isHidden
      ? "The key may not explain requests, so weir cannot tell which tools it would run again; allow tools, or choose another key."
      : `weir would run tools again: ${runs.join(", ")}. Allow it, or choose a key without them.`,
  );
}
