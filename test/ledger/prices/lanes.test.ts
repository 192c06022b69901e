/** One answer of a provider costs the same in every lane. */
import { describe, expect, test } from "bun:test";
import { builtInFormats } from "../../../src/run/formats.ts";
import { NO_USAGE, type Usage } from "../../../src/core/events.ts";
import type { Charge } from "../../../src/ledger/charge.ts";
import { chargeOf } from "../../../src/ledger/prices/charge-of.ts";
import { nativeUsage, translatedUsage } from "../../helpers/lane-usage.ts";
import {
  answerBytes,
  cutInto,
  haveRecordings,
  NO_RECORDINGS,
  type Recording,
  recordings,
  seedOf,
  someOf,
} from "../../helpers/recordings.ts";
import { IS_LONG } from "../../helpers/effort.ts";
import { COUNTED, RULE } from "./lane-figures.ts";

const codecs = new Map(
  builtInFormats({ systemTurns: "accept" }).map(({ id, upstream }) => [id, upstream!] as const),
);
const FORMATS: Readonly<Record<string, string>> = {
  chat: "chat-completions",
  messages: "messages",
  responses: "responses",
  gemini: "gemini",
};

const charge = (usage: Usage | undefined): Charge =>
  chargeOf({ reach: "sent", usage: usage ?? NO_USAGE }, RULE);

if (!haveRecordings) console.log(NO_RECORDINGS);

describe.skipIf(!haveRecordings)("recorded answers", () => {
  for (const [api, format] of Object.entries(FORMATS))
    test(`the native and the translated lane of ${format} charge the same`, () => {
      const codec = codecs.get(format)!;
      const different: string[] = [];
      let priced = 0;
      for (const recording of someOf(recordings({ api }))) {
        if (recording.response.status !== 200 || !["sse", "json"].includes(recording.framing)) continue;
        const both = chargesOf(recording, codec);
        if (!both) continue;
        priced++;
        const [native, translated] = both;
        if (JSON.stringify(native) !== JSON.stringify(translated))
          different.push(`${recording.vendor} ${recording.id}: ${JSON.stringify(both)}`);
      }
      expect(different).toEqual([]);
      expect(priced).toBeGreaterThan(IS_LONG ? 100 : 25);
    });
});

/** @returns undefined for an answer that one of the lanes ends with an error */
function chargesOf(
  recording: Recording,
  codec: Parameters<typeof nativeUsage>[0],
): readonly [native: Charge, translated: Charge] | undefined {
  const stream = recording.framing === "sse";
  const bytes = answerBytes(recording);
  try {
    const translated = translatedUsage(codec, [bytes], stream, recording.model ?? undefined);
    const native = nativeUsage(codec, cutInto(bytes, "random", seedOf(recording.id)), stream);
    return [charge(native), charge(translated)];
  } catch {
    return undefined;
  }
}

describe("synthetic answers cost what was computed by hand, in both lanes, as a stream and as JSON", () => {
  test.each(COUNTED.map((one) => [`${one.format}: ${one.what}`, one] as const))(
    "synthetic: %s",
    (_what, one) => {
      const codec = codecs.get(one.format)!;
      const stream = Buffer.from(
        one.events
          .map(
            (event) =>
              `${"type" in event ? `event: ${String(event.type)}\n` : ""}data: ${JSON.stringify(event)}\n\n`,
          )
          .join("") + (one.format === "chat-completions" ? "data: [DONE]\n\n" : ""),
      );
      const json = Buffer.from(JSON.stringify(one.answer));
      const charges = [
        charge(nativeUsage(codec, [stream], true)),
        charge(translatedUsage(codec, [stream], true)),
        charge(nativeUsage(codec, [json], false)),
        charge(translatedUsage(codec, [json], false)),
      ].map(({ state, cost }) => ({ state, cost }));
      expect(charges).toEqual(Array(4).fill({ state: one.state ?? "metered", cost: one.cost }));
    },
  );
});
