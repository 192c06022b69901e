/** An answer behind guards. */
import { isObject, parseJson } from "../../../core/json.ts";
import type { TextPlaces } from "../../../core/text-places.ts";
import type { Opened, OpenedJson } from "../../../gateway/lanes/lane.ts";
import type { Output } from "./output.ts";
import { withTexts } from "./spans.ts";
import { GuardedSource } from "./stream.ts";

/** @throws GatewayError of a guard that blocks before the client gets anything */
export async function guardAnswer(opened: Opened, places: TextPlaces, output: Output): Promise<Opened> {
  if (output.isIdle) return opened;
  if (opened.kind === "json") return guardJson(opened, places, output);
  const source = new GuardedSource(opened.source, places, output);
  if (output.blocks) await source.ready();
  return { ...opened, source };
}

function guardJson(opened: OpenedJson, places: TextPlaces, output: Output): OpenedJson {
  const bytes = typeof opened.body === "string" ? Buffer.from(opened.body) : opened.body;
  const body = parseJson(Buffer.from(bytes).toString());
  if (!isObject(body)) return opened;
  const changes = new Map<string, string>();
  for (const text of places.answer(body)) {
    if ((text.fixed || text.kind === "media") && text.get() !== "") output.unread(text);
    if (text.fixed) continue;
    const refused = output.refusal(text);
    if (refused) throw refused.error!;
    const given = text.get();
    const { judged, whole } = output.whole(given, text);
    if (judged.error) throw judged.error;
    if (whole !== given) changes.set(text.path, whole);
  }
  if (changes.size === 0) return opened;
  return { ...opened, body: withTexts(bytes, changes, () => output.loseLogprobs()) };
}
