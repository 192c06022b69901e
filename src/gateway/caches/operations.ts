/**
 * The operations on what providers keep for a key. What a program of weir keeps has no host: weir's own row is all there is. A
 * thing of another key is as unknown as one that does not exist.
 */
import { Attempt, type Call } from "../../core/call.ts";
import { NO_USAGE, type Units } from "../../core/events.ts";
import type { JsonObject } from "../../core/json.ts";
import type { RequestSize } from "../../core/ledger.ts";
import type { KeepsCodec, KindDialect, ModelKind } from "../../core/model-kind.ts";
import type { Target } from "../../core/provider.ts";
import { planFor, prepareModel } from "../access.ts";
import { headerFilters } from "../lanes/header-filter.ts";
import type { OpenedJson } from "../lanes/lane.ts";
import { PassedRefusal, passedHeaders, passedRefusal } from "../lanes/passed-error.ts";
import { readAnswer } from "../lanes/read-answer.ts";
import { send, upstreamHeaders } from "../lanes/send.ts";
import { ownerOf } from "../stored/owner.ts";
import type { Gateway } from "../types.ts";
import { findKept, type Kept, listKept, narrowTo, notKept, put } from "./kept.ts";

/** A kind that keeps things. */
export type KeepingKind = ModelKind & { keeps: KeepsCodec };

export interface KeptRequest {
  call: Call;
  kind: KeepingKind;
  /** Last segment of the path, decoded; empty for a list. */
  id: string;
  query: URLSearchParams;
  /** The change, for the operation that has one. */
  update?: { bytes: Uint8Array; body: JsonObject };
}

/** @throws GatewayError `not-found` for what the client's key does not have */
export type KeptOperation = (request: KeptRequest, gateway: Gateway) => Promise<OpenedJson>;

/** Names of any provider: they become part of a URL. */
const ID = /^[A-Za-z0-9_-]{1,200}$/;

/** A page of what weir knows to be the caller's. */
export async function listThings({ call, kind, query }: KeptRequest, gateway: Gateway): Promise<OpenedJson> {
  const { keeps } = kind;
  const { limit, after } = keeps.page(query);
  const found = await listKept(keeps.prefix, call, gateway, { limit: limit + 1, after });
  const page = found.slice(0, limit);
  const next = found.length > limit ? page.at(-1)!.name : undefined;
  return json(
    keeps.list(
      page.map(({ facts }) => facts),
      next,
    ),
  );
}

export async function getThing(request: KeptRequest, gateway: Gateway): Promise<OpenedJson> {
  const { kept, target } = await find(request, gateway);
  if (target.lane === "generated") return json(kept.facts);
  const said = await ask("GET", { ...request, kept }, new Attempt(request.call, target));
  if (said.error) return said;
  await note(said, kept, request, gateway);
  return said;
}

/** The time that is added is held before, and charged after. */
export async function updateThing(request: KeptRequest, gateway: Gateway): Promise<OpenedJson> {
  const { call, kind, update } = request;
  const { keeps } = kind;
  const until = keeps.untilIn(update!.body, Date.now());
  const { kept, target } = await find(request, gateway);
  const running = new Attempt(call, target);
  const added = (to: number) => keeps.unitsFor(kept.facts, (to - kept.expires) / 1_000);
  const size = sizeOf(added(until));
  await gateway.ledger.admit(running, {
    ...{ bytes: update!.bytes.length, size: () => size, affinity: () => call.id },
  });
  call.attempts.push(running);
  if (target.lane === "generated") {
    const facts = keeps.keptUntil(kept.facts, until);
    use(running, added(until));
    await put({ ...kept, facts, expires: until }, call, gateway);
    return json(facts);
  }
  running.usage = { ...NO_USAGE, units: {}, known: "final" };
  const said = await ask("PATCH", { ...request, kept }, running);
  if (said.error) return said;
  const expires = await note(said, kept, request, gateway);
  use(running, added(expires ?? until));
  return said;
}

export async function deleteThing(request: KeptRequest, gateway: Gateway): Promise<OpenedJson> {
  const { call } = request;
  const { kept, target } = await find(request, gateway);
  const forget = () => gateway.answers?.delete(kept.name, ownerOf(call));
  if (target.lane === "generated") {
    await forget();
    return json({});
  }
  const said = await ask("DELETE", { ...request, kept }, new Attempt(call, target));
  if (!said.error || said.status === 404) await forget();
  return said;
}

async function find(
  { call, kind, id }: KeptRequest,
  gateway: Gateway,
): Promise<{ kept: Kept; target: Target }> {
  const name = kind.keeps.prefix + id;
  const kept = ID.test(id) ? await findKept(name, call, gateway) : undefined;
  if (!kept) throw notKept(name);
  call.model = kept.asked;
  const { registry } = gateway;
  await prepareModel(call, kept.asked, registry);
  const plan = planFor(call, kept.asked, registry, kind.dialects[0]!.id, kind.id);
  return { kept, target: narrowTo(kept, plan).choices[0]!.target };
}

type Method = "GET" | "PATCH" | "DELETE";

/** Asks the host. What it refuses reaches the client as the host wrote it. */
async function ask(
  method: Method,
  { call, kind, query, update, kept }: KeptRequest & { kept: Kept },
  running: Attempt,
): Promise<OpenedJson> {
  const { target } = running;
  const dialect = dialectOf(kind, target);
  const headers = upstreamHeaders(target, headerFilters(dialect).request(call.headers), false);
  const body = [update?.bytes ?? new Uint8Array(0)];
  const url = urlOf(target.url, kept.name.slice(kind.keeps.prefix.length), query);
  const response = await send({ target, method, url, headers, body, expects: "json" }, running);
  running.firstByteAt = performance.now();
  if (!response.ok)
    return refused(
      await passedRefusal(response, { address: dialect, codec: dialect, native: dialect }, target),
    );
  const bytes = await readAnswer(response, running);
  call.status = response.status;
  return {
    ...{ kind: "json", status: response.status, body: bytes },
    headers: { ...passedHeaders(dialect, response, target), "content-type": "application/json" },
  };
}

function dialectOf({ dialects }: ModelKind, { format }: Target): KindDialect {
  return dialects.find(({ id }) => id === format) ?? dialects[0]!;
}

/** Keeps what the host says of it. @returns when it expires, if the host says so */
async function note(
  { body }: OpenedJson,
  kept: Kept,
  { call, kind }: KeptRequest,
  gateway: Gateway,
): Promise<number | undefined> {
  const said = kind.keeps.read(typeof body === "string" ? body : Buffer.from(body).toString());
  if (said?.name !== kept.name) return undefined;
  await put({ ...kept, facts: said.facts, expires: said.expires }, call, gateway);
  return said.expires;
}

function use(running: Attempt, units: Units): void {
  running.firstByteAt ??= performance.now();
  running.usage = { ...NO_USAGE, units, known: "final" };
}

function sizeOf(units: Units): RequestSize {
  return {
    ...{ text: { words: 0, digits: 0, signs: 0, scripts: 0 }, structure: 0, mediaTokens: 0 },
    ...{ hasTools: false, hasServerTools: false, maxTokens: 0, choices: 1, units },
  };
}

function urlOf(url: string, id: string, query: URLSearchParams): string {
  const made = new URL(url);
  made.pathname += `/${encodeURIComponent(id)}`;
  for (const name of ["updateMask", "update_mask"]) {
    const value = query.get(name);
    if (value !== null) made.searchParams.append(name, value);
  }
  return made.href;
}

function refused(error: unknown): OpenedJson {
  if (!(error instanceof PassedRefusal)) throw error;
  const { passedStatus: status, passedHeaders: headers, body } = error;
  return { kind: "json", status, headers: { ...headers, "content-type": "application/json" }, body, error };
}

function json(body: JsonObject): OpenedJson {
  const headers = { "content-type": "application/json" };
  return { kind: "json", status: 200, headers, body: JSON.stringify(body) };
}
