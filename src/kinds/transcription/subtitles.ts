/** Subtitles: SubRip (`srt`) and WebVTT. Times are milliseconds, which both have exactly. */
import type { TranscriptSegment } from "../../core/transcription.ts";

const LINES = /\r\n|\r|\n/;

/** The lines of a cue: a blank line would end it. */
function cueText(text: string): string {
  const lines = text.split(LINES).map((line) => line.trim());
  return lines.filter((line) => line !== "").join("\n");
}

export function writeSrt(segments: readonly TranscriptSegment[]): string {
  return segments
    .map(
      ({ start, end, text }, index) =>
        `${index + 1}\n${time(start, ",")} --> ${time(end, ",")}\n${cueText(text)}\n`,
    )
    .join("\n");
}

export function writeVtt(segments: readonly TranscriptSegment[]): string {
  const cues = segments.map(({ start, end, text, speaker }) => {
    const voice = speaker === undefined ? "" : `<v ${escaped(speaker).replaceAll("\n", " ")}>`;
    return `${time(start, ".")} --> ${time(end, ".")}\n${voice}${escaped(cueText(text))}\n`;
  });
  return ["WEBVTT\n", ...cues].join("\n");
}

/** Reads both formats; what is no cue is left out. */
export function readSubtitles(written: string): TranscriptSegment[] {
  const isVtt = /^\uFEFF?WEBVTT/.test(written);
  const found: TranscriptSegment[] = [];
  for (const block of written
    .split(LINES)
    .join("\n")
    .split(/\n{2,}/)) {
    const lines = block.split("\n");
    // The first line may be the number or the name of the cue.
    const at = lines.findIndex((line, index) => index < 2 && TIMES.test(line));
    const [, start, end] = TIMES.exec(lines[at] ?? "") ?? [];
    if (start === undefined || end === undefined) continue;
    const text = lines
      .slice(at + 1)
      .join("\n")
      .trim();
    found.push({
      start: millisecondsOf(start),
      end: millisecondsOf(end),
      ...(isVtt ? vttText(text) : { text }),
    });
  }
  return found;
}

const CLOCK = "((?:\\d+:)?\\d{1,2}:\\d{2}[.,]\\d{1,3})";
const TIMES = new RegExp(`^\\s*${CLOCK}\\s+-->\\s+${CLOCK}(?:\\s|$)`);

/** Milliseconds as `00:01:02,003`. */
function time(milliseconds: number, point: string): string {
  const all = Math.max(0, Math.round(milliseconds));
  const digits = (value: number, count = 2) => String(Math.floor(value)).padStart(count, "0");
  const clock = [all / 3_600_000, (all / 60_000) % 60, (all / 1000) % 60]
    .map((part) => digits(part))
    .join(":");
  return `${clock}${point}${digits(all % 1000, 3)}`;
}

function millisecondsOf(clock: string): number {
  const [whole, fraction] = clock.split(/[.,]/);
  const seconds = whole!.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return seconds * 1000 + Number(fraction!.padEnd(3, "0"));
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const VOICE = /^<v(?:\.[^\s>]*)?\s+([^>]*)>/;

/** Without its tags. A voice is the speaker. */
function vttText(text: string): { text: string; speaker?: string } {
  const speaker = VOICE.exec(text)?.[1];
  const plain = text.replace(/<[^>]*>/g, "");
  return { text: unescaped(plain), ...(speaker !== undefined && { speaker: unescaped(speaker) }) };
}

function unescaped(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&nbsp;", " ")
    .replaceAll("&amp;", "&");
}
