/** The request for a provider. */
import type { Attempt } from "../../core/call.ts";
import type { RequestSize } from "../../core/ledger.ts";
import type { AnswerForm, KindDialect } from "../../core/model-kind.ts";
import type { Target } from "../../core/provider.ts";
import { editMembers } from "../../stream/scan.ts";
import { headerFilters } from "../lanes/header-filter.ts";
import type { Prepared } from "../lanes/lane.ts";
import { NOTES, refuseLosses } from "../lanes/losses.ts";
import { upstreamHeaders } from "../lanes/send.ts";
import type { Gateway } from "../types.ts";
import { editsOf, fieldOf } from "./form-body.ts";
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

/** Whether the client's body names the model as the provider wants it. @param model of the target */
function isNamedAs(model: string, written: string, asked: string, { writeModel }: KindDialect): boolean {
  return writeModel ? writeModel(model) === written : model === asked;
}

/** A provider of the client's dialect gets the client's bytes with the model's name replaced. */
export async function prepareKind(
  incoming: IncomingKind,
  running: Attempt,
  dialect: KindDialect,
  context: Pick<Gateway, "strict">,
): Promise<Prepared> {
  const { call, request, bytes, spanOf, form } = incoming;
  const { target } = running;
  const isNative = target.lane === "native";
  const forwarded = isNative ? headerFilters(dialect).request(call.headers) : {};
  const expects = answerForm(incoming, target, dialect) === "events" ? "stream" : "json";
  const headers = upstreamHeaders(target, forwarded, expects === "stream");
  const sent = { target, url: target.url, headers, expects } as const;
  if (isNative && form) {
    const edited = { ...form.body, ...dialect.editForm?.(request, running.context) };
    refuseLosses(running, context);
    return { ...sent, ...preparedForm({ ...form, body: edited }, target.model, headers) };
  }
  if (isNative) {
    refuseLosses(running, context);
    const edits = new Map(
      isNamedAs(target.model, request.model, call.model, dialect)
        ? []
        : [["model", JSON.stringify(dialect.writeModel?.(target.model) ?? target.model)]],
    );
    const body = editMembers(bytes, edits, spanOf);
    return { ...sent, body, changed: [...edits.keys()] };
  }
  const body = await dialect.encodeRequest(request, running.context);
  for (const { loss, path } of request.leftOut ?? []) running.reportLoss(loss, path, NOTES[loss]);
  refuseLosses(running, context);
  return { ...sent, body: [Buffer.from(JSON.stringify(body))] };
}

/** How the host of a target answers. */
export function answerForm({ request }: IncomingKind, target: Target, dialect: KindDialect): AnswerForm {
  return dialect.answersWith?.(request, target.lane === "native") ?? "json";
}

/** The client's form, with the texts that it has now and the provider's name of the model. */
function preparedForm(
  { upload, body }: NonNullable<IncomingKind["form"]>,
  model: string,
  headers: Prepared["headers"],
): Pick<Prepared, "headers" | "body" | "upload" | "changed"> {
  const edits = editsOf(upload, "model" in body ? { ...body, model } : body);
  let { length } = upload;
  for (const [part, text] of edits) length += text.length - part.length;
  return {
    headers: { ...headers, "content-type": upload.type },
    body: [],
    upload: { length, parts: upload.parts, bytes: () => upload.bytes(edits) },
    changed: [...edits.keys()].map(fieldOf),
  };
}
