/**
 * The operations on stored answers. weir answers for those that it stores; those that a provider stores are relayed to the
 * deployment that made them. An answer of another key is as unknown as one that does not exist.
 */
import { setFoundNotes } from "../../core/answer-notes.ts";
import { invalidRequest } from "../../core/error.ts";
import type { JsonObject } from "../../core/json.ts";
import type { StoredAnswer } from "../../core/stored-answer.ts";
import type { Opened, OpenedJson } from "../lanes/lane.ts";
import type { Gateway } from "../types.ts";
import { refusesUnknown } from "./foreign.ts";
import { soleKeeper } from "./keepers.ts";
import { ownerOf } from "./owner.ts";
import { readPage } from "./page.ts";
import { reading } from "./reading.ts";
import { relay, VENDOR_ID } from "./relay.ts";
import type { AnswerRequest } from "./types.ts";

/** @throws GatewayError `not-found` for an answer that the client's key does not have */
export type AnswerOperation = (request: AnswerRequest, gateway: Gateway) => Promise<Opened>;

export async function retrieveAnswer(request: AnswerRequest, gateway: Gateway): Promise<Opened> {
  const found = await find(request, gateway);
  if (isElsewhere(found)) return relay({ ...request, ...found, method: "GET" }, gateway);
  if (request.query.get("stream") === "true")
    throw invalidRequest(
      "weir keeps no events of an answer; retrieve it without `stream`.",
      "stream",
      "response_not_streamable",
    );
  return json(request.format.client.beside.stored!.join(found));
}

export async function deleteAnswer(request: AnswerRequest, gateway: Gateway): Promise<Opened> {
  const { id, call, format } = request;
  const found = await find(request, gateway);
  const forget = () => reading(gateway, (answers) => answers.delete(id, ownerOf(call)));
  if (!isElsewhere(found)) {
    // Another request may have deleted it in the meantime.
    if (!(await forget())) throw format.client.beside.stored!.unknownAnswer(id);
    return json(format.client.beside.stored!.deleted(id));
  }
  const opened = await relay({ ...request, ...found, method: "DELETE" }, gateway);
  if (opened.status < 300 || opened.status === 404) await forget();
  return opened;
}

export async function cancelAnswer(request: AnswerRequest, gateway: Gateway): Promise<Opened> {
  const found = await find(request, gateway);
  const { cancel } = request.format.client.beside.stored!.paths;
  if (isElsewhere(found)) return relay({ ...request, ...found, method: "POST", below: cancel }, gateway);
  throw invalidRequest(
    "Only an answer that is generated in the background can be cancelled; this one has ended.",
    undefined,
    "not_cancellable",
  );
}

export async function listInputItems(request: AnswerRequest, gateway: Gateway): Promise<Opened> {
  const { id, call, format, query } = request;
  const codec = format.client.beside.stored!;
  const found = await find(request, gateway);
  const { inputItems } = codec.paths;
  if (isElsewhere(found)) return relay({ ...request, ...found, method: "GET", below: inputItems! }, gateway);
  const page = readPage(query);
  const items = await reading(gateway, (answers) => answers.inputItems(id, ownerOf(call), page));
  if (!items) throw invalidRequest(`The answer has no input item with this id.`, "after", "invalid_value");
  return json(codec.listItems(items.items, items.hasMore));
}

/** An answer that a provider stores. `row` is absent if weir does not know it. */
interface Elsewhere {
  deployment: string;
  row?: StoredAnswer;
}

async function find(
  { id, call, format }: AnswerRequest,
  gateway: Gateway,
): Promise<StoredAnswer | Elsewhere> {
  const codec = format.client.beside.stored!;
  if (!VENDOR_ID.test(id) || codec.conversations?.isOwnId(id)) throw codec.unknownAnswer(id.slice(0, 200));
  const row = await reading(gateway, (answers) => answers.get(id, ownerOf(call)));
  if (row) {
    call.model = row.model;
    setFoundNotes(call, row.notes ?? []);
    return row.deployment === undefined ? row : { deployment: row.deployment, row };
  }
  const sole = refusesUnknown(call, gateway.answerOptions)
    ? undefined
    : soleKeeper(gateway.registry, format.id);
  if (sole === undefined) throw codec.unknownAnswer(id);
  return { deployment: sole };
}

function isElsewhere(found: StoredAnswer | Elsewhere): found is Elsewhere {
  return !("body" in found);
}

function json(body: JsonObject): OpenedJson {
  return {
    kind: "json",
    status: 200,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}
