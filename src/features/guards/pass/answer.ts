/** An answer behind guards. */
import { isObject, parseJson } from "../../../core/json.ts";
import type { AnswerText, TextPlaces } from "../../../core/text-places.ts";
import { MAX_ANSWER_BYTES } from "../../../gateway/lanes/read-answer.ts";
import type { Opened, OpenedJson, OpenedStream } from "../../../gateway/lanes/lane.ts";
import { askWhole } from "../ask/whole.ts";
import { AskedSource } from "../ask/source.ts";
import { Output } from "./output.ts";
import { type Patience, PatientSource } from "./patience.ts";
import { withTexts } from "./spans.ts";
import type { Stages } from "./stages.ts";
import { GuardedSource } from "./stream.ts";

/** @throws GatewayError of a guard that blocks before the client gets anything */
export async function guardAnswer(
  opened: Opened,
  places: TextPlaces,
  stages: Stages,
  patience: Patience,
): Promise<Opened> {
  if (stages.inner.length === 0 && stages.last.isIdle) return opened;
  return opened.kind === "json"
    ? guardJson(opened, places, stages)
    : guardStream(opened, places, stages, patience);
}

async function guardStream(
  opened: OpenedStream,
  places: TextPlaces,
  { inner, last }: Stages,
  patience: Patience,
): Promise<OpenedStream> {
  const waits = last.blocks || inner.some(({ blocks }) => blocks);
  const holds = [...inner, last].some((stage) => stage.holds);
  const within = inner.reduce(
    (source, stage) =>
      stage instanceof Output
        ? new GuardedSource(source, places, stage)
        : new AskedSource(source, places, stage),
    holds || waits
      ? new PatientSource(opened.source, patience, holds ? MAX_ANSWER_BYTES : undefined)
      : opened.source,
  );
  const source = new GuardedSource(within, places, last, waits);
  if (waits) await source.ready();
  return { ...opened, source };
}

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** A text of an answer, as the stages so far have made it. */
export interface Told {
  readonly of: AnswerText;
  readonly given: string;
  text: string;
}

async function guardJson(
  opened: OpenedJson,
  places: TextPlaces,
  { inner, last }: Stages,
): Promise<OpenedJson> {
  const isText = isPlain(opened);
  const given = isText ? JSON.stringify({ text: textOf(opened.body) }) : withoutMark(opened.body);
  const body = parseJson(typeof given === "string" ? given : UTF8.decode(given));
  if (!isObject(body)) return opened;
  const texts: Told[] = [];
  for (const of of places.answer(body)) {
    const text = of.get();
    if ((of.fixed || of.kind === "media") && text !== "")
      for (const stage of [...inner, last]) stage.unread(of);
    if (!of.fixed) texts.push({ of, given: text, text });
  }
  for (const stage of inner)
    if (stage instanceof Output) applyOutput(stage, texts);
    else await askWhole(stage, texts);
  applyOutput(last, texts);
  const changes = texts.filter(({ text, given }) => text !== given);
  if (changes.length === 0) return opened;
  const bytes = typeof given === "string" ? Buffer.from(given) : given;
  const written = new Map(changes.map(({ of, text }) => [of.path, text]));
  const changed = withTexts(bytes, written, () => last.loseLogprobs());
  if (!isText) return { ...opened, body: changed };
  return { ...opened, body: (parseJson(UTF8.decode(changed)) as { text: string }).text };
}

/** A transcript as plain text, or subtitles: one text. */
function isPlain({ headers }: OpenedJson): boolean {
  return headers["content-type"]?.startsWith("text/plain") ?? false;
}

function textOf(body: OpenedJson["body"]): string {
  return typeof body === "string" ? body : UTF8.decode(body);
}

const BOM = Buffer.from("\ufeff");

/** Readers of JSON skip a byte order mark (RFC 8259 8.1). */
function withoutMark(body: OpenedJson["body"]): OpenedJson["body"] {
  if (typeof body === "string") return body.startsWith("\ufeff") ? body.slice(1) : body;
  return body[0] === BOM[0] && BOM.equals(body.subarray(0, BOM.length)) ? body.subarray(BOM.length) : body;
}

function applyOutput(output: Output, texts: readonly Told[]): void {
  for (const one of texts) {
    const refused = output.refusal(one.of);
    if (refused) throw refused.error!;
    const { judged, whole } = output.whole(one.text, one.of);
    if (judged.error) throw judged.error;
    one.text = whole;
  }
}
