/** The request for a provider. */
import type { Attempt } from "../../core/call.ts";
import type { RequestSize } from "../../core/ledger.ts";
import type { KindDialect } from "../../core/model-kind.ts";
import type { Target } from "../../core/provider.ts";
import { editMembers } from "../../stream/scan.ts";
import { headerFilters } from "../lanes/header-filter.ts";
import type { Prepared } from "../lanes/lane.ts";
import { NOTES, refuseLosses } from "../lanes/losses.ts";
import { upstreamHeaders } from "../lanes/send.ts";
import type { Gateway } from "../types.ts";
import type { IncomingKind } from "./types.ts";

/** How the host of a target is asked; `undefined` if its provider is a program. */
export function dialectOf({ kind }: IncomingKind, target: Target): KindDialect | undefined {
  return kind.dialects.find(({ id }) => id === target.format);
}

/** What the request may use at most, in the units in which the target charges. */
export function sizeFor(incoming: IncomingKind, target: Target): RequestSize {
  const { kind, request } = incoming;
  return (dialectOf(incoming, target) ?? kind).sizeOf(request);
}

/** A provider of the client's dialect gets the client's bytes with the model's name replaced. */
export function prepareKind(
  { call, request, bytes, spanOf }: IncomingKind,
  running: Attempt,
  dialect: KindDialect,
  context: Pick<Gateway, "strict">,
): Prepared {
  const { target } = running;
  const isNative = target.lane === "native";
  const forwarded = isNative ? headerFilters(dialect).request(call.headers) : {};
  const sent = { target, url: target.url, headers: upstreamHeaders(target, forwarded, false) };
  if (isNative) {
    refuseLosses(running, context);
    const edits = new Map(target.model === call.model ? [] : [["model", JSON.stringify(target.model)]]);
    const body = editMembers(bytes, edits, spanOf);
    return { ...sent, body, expects: "json", changed: [...edits.keys()] };
  }
  const body = dialect.encodeRequest(request, running.context);
  for (const { loss, path } of request.leftOut ?? []) running.reportLoss(loss, path, NOTES[loss]);
  refuseLosses(running, context);
  return { ...sent, body: [Buffer.from(JSON.stringify(body))], expects: "json" };
}
