/** Reads a client's output: how much of the answer it shows, and whether it reports a failure. */
import { ANSWER_WORDS, type Shown, shownIn } from "./answer-text.ts";

/** The output of a client. */
export interface Output {
  out: string;
  err: string;
}

/** The reading of the output. */
export interface Said {
  shown: Shown;
  /** The line that reports a failure, which the baseline does not have. */
  complaint?: string;
  /** The last line besides the answer that the baseline does not have. */
  lastWords?: string;
  /** The output contains a stack trace. */
  trace: boolean;
}

/** Words with which programs report that something failed. */
const COMPLAINT = new RegExp(
  [
    "(?<![a-z])err(or)?s?(?![a-z])|error[:\\]]|[a-z]Error\\b",
    "fail(s|ed|ure|ing)?\\b|exception|fault\\b|warn(ing)?\\b",
    "refus|denied|unauthori[sz]ed|forbidden|invalid|malformed|unexpected|reject",
    "bad gateway|incomplete|truncat|interrupt|abort|cancel|cut off|premature|partial|unfinished|terminated",
    "tim(ed|e)[ -]?out|stall|overloaded|unavailable|rate.?limit|too (long|many|large|few)|exceed|context (window|length)",
    "content.?filter|filtered|safety|blocked|empty|without (an )?(answer|content|text)|no (answer|content|text|response)\\b",
    "unable|can(no|')t\\b|could ?(no|n')t|disconnect|not found|unknown|does not exist|ECONN|EPIPE",
  ].join("|"),
  "i",
);

/** Members of JSON output that name an error and say that there is none. */
const NO_ERROR =
  /"\w*(?:error|fail|denial|refus|reject|warn|abort|cancel)\w*"\s*:\s*(?:false|null|0|""|\[\]|\{\})/gi;

const TRACES = [
  /^\s+at .+:\d+:\d+\)?$/m,
  /^Traceback \(most recent call last\)/m,
  /panicked at /,
  /^goroutine \d+ \[/m,
  /^Exception in thread /m,
];

/** Lines of a stack trace that quote code or name its place. */
const OF_TRACE = /^(?:\d+ \||at |File ")/;
/** Lines that begin with the name of an error: the best of several. */
const NAMED_ERROR = /^\W*[\w.]*(?:error|exception)\b/i;

/** Control sequences of terminals: colours, titles, character sets. */
const ESCAPES = /\u001b(?:\[[0-9;?]*[A-Za-z]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][A-Z0-9]|[=>78])/g;

/** @param baseline the output of the same client when nothing failed */
export function readOutput({ out, err }: Output, baseline: Output): Said {
  const plain = strip(out);
  const usual = new Set([...linesOf(baseline.out), ...linesOf(baseline.err)].map(withoutIds));
  const lines = [...linesOf(out), ...linesOf(err)].filter(
    (line) => line !== "" && !usual.has(withoutIds(line)),
  );
  const complaints = lines.filter(
    (line) => !OF_TRACE.test(line) && COMPLAINT.test(line.replace(NO_ERROR, "")),
  );
  const complaint = complaints.findLast((line) => NAMED_ERROR.test(line)) ?? complaints.at(-1);
  const lastWords = lines.at(-1);
  return {
    shown: shownIn(plain),
    ...(complaint !== undefined && { complaint: clip(complaint) }),
    ...(lastWords !== undefined && { lastWords: clip(lastWords) }),
    trace: TRACES.some((trace) => trace.test(strip(err)) || trace.test(plain)),
  };
}

/** How much of the answer the client shows if nothing fails. */
export function shownAnswer({ out }: Output): Shown {
  return shownIn(strip(out));
}

function strip(text: string): string {
  return text.replace(ESCAPES, "");
}

const WORDS = new RegExp(`\\b(?:${ANSWER_WORDS.join("|")})\\b`, "g");

/** The lines without the words of the answer. */
function linesOf(text: string): string[] {
  return strip(text)
    .replace(WORDS, "")
    .split(/[\r\n]+/)
    .map((line) => line.trim());
}

/** Numbers, times, ids and folders differ from run to run. */
function withoutIds(line: string): string {
  return line.replace(/[\w-]*\d[\w-]*/g, "#");
}

/** Longest complaint in a reason, in UTF-16 units. */
const MAX_COMPLAINT = 120;

function clip(line: string): string {
  return line.length > MAX_COMPLAINT ? `${line.slice(0, MAX_COMPLAINT - 1)}…` : line;
}
