/** Transcripts keep their times to the millisecond and their texts in every format, and back. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { TranscriptFormat, TranscriptSegment } from "../../../src/core/transcription.ts";
import {
  formatToAsk,
  readTranscript,
  usageIn,
  writeTranscript,
} from "../../../src/kinds/transcription/formats.ts";
import { readSubtitles, writeSrt, writeVtt } from "../../../src/kinds/transcription/subtitles.ts";

const file = {
  filename: "a.wav",
  bytes: 1,
  seconds: 7,
  isEstimated: false,
  read: async () => new Uint8Array(),
};
const asked = (format: TranscriptFormat) => ({
  format,
  task: "transcribe" as const,
  file,
  wantsWords: false,
});

/** A line as speech has it, with what the formats use as signs. */
const line = fc
  .array(
    fc.constantFrom("a", "Zoë", " ", "-->", "&", "&amp;", "<b>", "<", ">", "1", "00:00:01,000", "日本"),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((parts) => parts.join("").trim().replace(/\s+/g, " "))
  .filter((text) => text !== "");
const time = fc.integer({ min: 0, max: 100 * 3_600_000 });
const segment = fc
  .record({
    start: time,
    length: fc.integer({ min: 0, max: 60_000 }),
    lines: fc.array(line, { minLength: 1, maxLength: 3 }),
  })
  .map(({ start, length, lines }): TranscriptSegment => ({
    start,
    end: start + length,
    text: lines.join("\n"),
  }));
const segments = fc.array(segment, { minLength: 1, maxLength: 12 });

describe("a round trip", () => {
  test.each([
    ["srt", writeSrt],
    ["vtt", writeVtt],
  ] as const)("through %s is exact", (_name, write) => {
    fc.assert(
      fc.property(segments, (given) => {
        expect(readSubtitles(write(given))).toEqual(given);
        expect(readSubtitles(write(given).replaceAll("\n", "\r\n"))).toEqual(given);
      }),
      { numRuns: 500 },
    );
  });

  test("through vtt keeps speakers", () => {
    fc.assert(
      fc.property(segments, line, (given, speaker) => {
        const spoken = given.map((one) => ({ ...one, speaker }));
        expect(readSubtitles(writeVtt(spoken))).toEqual(spoken);
      }),
    );
  });

  const TIMED: TranscriptFormat[] = ["srt", "vtt", "verbose_json", "diarized_json"];
  test.each(TIMED.flatMap((from) => TIMED.map((to) => [from, to] as const)))(
    "from %s over %s",
    (from, to) => {
      fc.assert(
        fc.property(segments, (given) => {
          let answer = { text: "t", segments: given as readonly TranscriptSegment[] };
          for (const format of [from, to, from]) {
            const { text: _, ...rest } = readTranscript(writeTranscript(answer, asked(format)), format)!;
            answer = { text: "t", segments: rest.segments! };
          }
          expect(answer.segments.map(({ start, end, text }) => ({ start, end, text }))).toEqual(given);
        }),
        { numRuns: 60 },
      );
    },
  );
});

describe("what is written", () => {
  const answer = {
    text: " Hi. Ho.",
    segments: [
      { start: 0, end: 1500, text: " Hi." },
      { start: 3_661_002, end: 3_662_000, text: "Ho." },
    ],
  };

  test("is what Whisper writes", () => {
    expect(writeSrt(answer.segments)).toBe(
      "1\n00:00:00,000 --> 00:00:01,500\nHi.\n\n2\n01:01:01,002 --> 01:01:02,000\nHo.\n",
    );
    expect(writeVtt(answer.segments)).toBe(
      "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHi.\n\n01:01:01.002 --> 01:01:02.000\nHo.\n",
    );
    expect(writeTranscript({ text: "Hi." }, asked("text"))).toBe("Hi.\n");
  });

  test("has a segment over the whole audio if the host says no times", () => {
    expect(writeTranscript({ text: "Hi." }, asked("srt"))).toBe("1\n00:00:00,000 --> 00:00:07,000\nHi.\n");
    expect(writeTranscript({ text: "" }, asked("vtt"))).toBe("WEBVTT\n");
  });

  test("keeps what a host says of its segments", () => {
    const body = {
      task: "transcribe",
      language: "english",
      duration: 1.5,
      text: "Hi.",
      segments: [{ id: 0, seek: 0, start: 0, end: 1.5, text: "Hi.", tokens: [1], avg_logprob: -0.25 }],
      usage: { type: "duration", seconds: 2 },
    };
    const read = readTranscript(JSON.stringify(body), "verbose_json")!;
    expect(read.usage).toEqual({ units: { second: 2 } });
    expect(JSON.parse(writeTranscript(read, asked("verbose_json")))).toEqual(body);
  });
});

test("subtitles of others are read: short times, names of cues, settings, notes and classes", () => {
  const given =
    "\uFEFFWEBVTT - title\n\nNOTE\nnothing\n\nintro\n00:01.500 --> 00:02.000 align:start\n<v.loud Ann>Hi <i>there</i>\n";
  expect(readSubtitles(given)).toEqual([{ start: 1500, end: 2000, text: "Hi there", speaker: "Ann" }]);
});

test("a host is asked for a format from which weir makes the client's", () => {
  const groq = ["json", "text", "verbose_json"];
  expect(
    (["json", "text", "srt", "vtt", "verbose_json", "diarized_json"] as const).map((one) =>
      formatToAsk(one, groq),
    ),
  ).toEqual(["json", "text", "verbose_json", "verbose_json", "verbose_json", "diarized_json"]);
  expect(formatToAsk("srt", ["json", "text", "diarized_json"])).toBe("diarized_json");
  expect(formatToAsk("srt", ["json"])).toBe("srt");
  expect(formatToAsk("srt")).toBe("srt");
});

test("usage is seconds or tokens", () => {
  expect(usageIn({ type: "duration", seconds: 61 })).toEqual({ units: { second: 61 } });
  expect(usageIn(undefined, 8.5)).toEqual({ units: { second: 8.5 } });
  const tokens = {
    type: "tokens",
    input_tokens: 14,
    output_tokens: 45,
    total_tokens: 59,
    input_token_details: { text_tokens: 4, audio_tokens: 10 },
  };
  expect(usageIn(tokens, 8.5)).toEqual({ input: 14, output: 45, audioIn: 10 });
  expect(usageIn(undefined)).toBeUndefined();
  expect(usageIn({ seconds: -1 })).toBeUndefined();
});
