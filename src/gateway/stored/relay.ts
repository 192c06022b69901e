/** Relays a request about an answer or a conversation to the deployment that stores it. The answer passes unchanged. */
import { Attempt } from "../../core/call.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { Target } from "../../core/provider.ts";
import { heldItem, type StoredAnswer } from "../../core/stored-answer.ts";
import { GatewayError } from "../../core/error.ts";
import { NativeLane } from "../lanes/native.ts";
import { observeAnswer } from "../lanes/observe-answer.ts";
import { passedHeaders, PassedRefusal } from "../lanes/passed-error.ts";
import type { Opened } from "../lanes/lane.ts";
import { isStream, readAnswer } from "../lanes/read-answer.ts";
import { recordUsage } from "../lanes/relay-source.ts";
import { headerFilters } from "../lanes/header-filter.ts";
import { send, upstreamHeaders } from "../lanes/send.ts";
import type { Gateway, Incoming } from "../types.ts";
import { assertProvider } from "../access.ts";
import { refusesUnknown } from "./foreign.ts";
import { keeperNamed } from "./keepers.ts";
import { ownerOf } from "./owner.ts";
import { type AnswerRequest, RUNNING } from "./types.ts";

export interface RelayRequest extends AnswerRequest {
  method: "GET" | "DELETE" | "POST";
  /** The path behind the id. */
  below?: string;
  /** What the id belongs to, as a segment of the path in place of the one of answers. */
  beside?: string;
  /** The body; absent: none. */
  bytes?: Uint8Array;
  /** Name of the deployment that stores the answer. */
  deployment: string;
  /** Facts about the answer. */
  row?: StoredAnswer;
}

const NO_BYTES = new Uint8Array(0);

/** Ids of any provider: they become part of a URL. */
export const VENDOR_ID = /^[A-Za-z0-9_-]{1,200}$/;

/** @throws GatewayError if the deployment is gone, cannot be reached, or is none that the key may use */
export async function relay(request: RelayRequest, gateway: Gateway): Promise<Opened> {
  const { call, format, method, deployment, id, bytes = NO_BYTES } = request;
  const keeper = keeperNamed(deployment, gateway.registry, format.id);
  if (!keeper)
    throw new GatewayError(
      "not-found",
      `The answer '${id}' is stored at ${deployment}, which is not configured any more.`,
      { code: format.client.beside.stored!.unknownAnswer(id).code },
    );
  assertProvider(call.principal, keeper.provider.name);
  const target = ofModel(keeper, request, gateway);
  call.stream = request.query.get("stream") === "true";
  // No attempt of the plan: how it ends says nothing about models of the deployment.
  const running = new Attempt(call, target);
  const codec = gateway.registry.formats.get(format.id)!.upstream!;
  const headers = upstreamHeaders(target, headerFilters(codec.address).request(call.headers), call.stream);
  const expects = call.stream ? "stream" : "json";
  const response = await send(
    { target, method, url: urlOf(target.url, request), headers, body: [bytes], expects },
    running,
  );
  const incoming: Incoming = { call, format, bytes: NO_BYTES, body: {}, spanOf: () => undefined };
  const lane = new NativeLane(incoming, running, gateway);
  if (!response.ok) return refused(await lane.refusal(response));
  if (isStream(response, target, call.stream)) {
    const opened = await lane.open(response, gateway);
    if (opened.kind === "stream") await opened.source.begin();
    return opened;
  }
  const read = await readAnswer(response, running);
  running.firstByteAt = performance.now();
  const seen = observeAnswer(read, codec.native.watch);
  const hasEnded = seen?.usage !== undefined && request.row?.status === RUNNING;
  if (hasEnded) {
    recordUsage(seen, running);
    gateway.ledger.charge(running);
  }
  if (method === "GET" && request.row) await noteRead(request.row, read, hasEnded, request, gateway);
  return {
    kind: "json",
    status: response.status,
    headers: { ...passedHeaders(codec.address, response, target), "content-type": "application/json" },
    body: read,
  };
}

/** The model that made the answer has its price. @returns the target as it is, if the model is not served there any more */
function ofModel(keeper: Target, { row, format }: RelayRequest, { registry }: Gateway): Target {
  if (!row) return keeper;
  try {
    const { choices, fallbacks, larger } = registry.plan(row.model, format.id);
    const made = [choices, ...fallbacks, ...larger]
      .flat()
      .find(({ target }) => target.deployment.name === keeper.deployment.name && target.lane === "native");
    return made ? { ...keeper, model: made.target.model, asked: row.model } : keeper;
  } catch (thrown) {
    if (thrown instanceof GatewayError) return keeper;
    throw thrown;
  }
}

/** Later requests must not count the same tokens again, and may refer to the items that the client gets to see. */
async function noteRead(
  row: StoredAnswer,
  read: Uint8Array,
  hasEnded: boolean,
  { call, format }: AnswerRequest,
  gateway: Gateway,
): Promise<void> {
  const { commitMs } = gateway.answerOptions;
  const known = new Set([...row.input, ...row.output].map(({ id }) => id));
  const body = refusesUnknown(call, gateway.answerOptions) ? parseJson(Buffer.from(read).toString()) : null;
  const items = isObject(body) ? format.client.beside.stored!.itemIds(body) : [];
  const added = [...new Set(items)].filter((id) => !known.has(id)).map(heldItem);
  if (!hasEnded && added.length === 0) return;
  const status = hasEnded ? "completed" : row.status;
  const noted = { ...row, owner: ownerOf(call), status, output: [...row.output, ...added] };
  await gateway.answers?.put(noted, commitMs).catch(() => {});
}

/** The URL of an answer: the id becomes a segment of the path, the client's parameters stay parameters. */
function urlOf(url: string, { id, below, beside, query }: RelayRequest): string {
  const made = new URL(url);
  if (beside !== undefined) made.pathname = made.pathname.replace(/[^/]+$/, beside);
  made.pathname += `/${encodeURIComponent(id)}${below === undefined ? "" : `/${below}`}`;
  for (const [name, value] of query) if (!made.searchParams.has(name)) made.searchParams.append(name, value);
  return made.href;
}

function refused(error: GatewayError): Opened {
  if (!(error instanceof PassedRefusal)) throw error;
  const { passedStatus: status, passedHeaders: headers, body } = error;
  return { kind: "json", status, headers: { ...headers, "content-type": "application/json" }, body, error };
}
