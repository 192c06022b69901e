/** Turns replies into findings. */
import type { ProbeAnswer, StreamSeen } from "./answer.ts";
import type { Reply } from "./host.ts";
import type { Finding } from "./types.ts";

/** The finding from an answer: whether the feature works (`undefined`: it does not decide it), and what was seen. */
export type Seen = readonly [works: boolean | undefined, evidence: string];

/**
 * The finding of one reply.
 * @param read judges an answer
 * @param about words that an error with status 5xx must contain to count as a refusal of the feature: some hosts answer 500
 * for what their chat template cannot do
 */
export function judge(
  reply: Reply,
  read: (answer: ProbeAnswer, stream: StreamSeen | undefined) => Seen,
  about?: RegExp,
): Finding {
  if (reply.kind === "answer") {
    const [works, evidence] = read(reply.answer, reply.stream);
    return { verdict: works === undefined ? "unclear" : works ? "yes" : "ignored", evidence };
  }
  return judgeFailure(reply, about);
}

/** The finding of a reply that is no answer. */
export function judgeFailure(reply: Exclude<Reply, { kind: "answer" }>, about?: RegExp): Finding {
  if (reply.kind === "refused") return { verdict: "refused", evidence: reply.words };
  if (reply.kind === "other")
    return { verdict: "unclear", evidence: `status ${reply.status}, and a body that is no answer` };
  const isRefusal = about !== undefined && (reply.status ?? 0) >= 500 && about.test(reply.words);
  return { verdict: isRefusal ? "refused" : "unclear", evidence: reply.words };
}

/** `1 call`, `2 calls`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A feature that was not asked for, because it needs one that the host lacks. */
export function notAsked(why: string): Finding {
  return { verdict: "unclear", evidence: `not asked: ${why}` };
}

/** Judges a text that should contain a word; an answer that was cut decides nothing. */
export function says(word: RegExp, { text, finish }: ProbeAnswer, quote: (text: string) => string): Seen {
  if (word.test(text)) return [true, `answered ${quoted(text, quote)}`];
  if (finish === "length" || text.trim() === "")
    return [undefined, "the answer ended before it said anything"];
  return [false, `answered ${quoted(text, quote)}`];
}

/** At most 40 characters of an answer, in quotes. */
export function quoted(text: string, quote: (text: string) => string): string {
  const line = quote(text);
  return JSON.stringify(line.length > 40 ? `${line.slice(0, 40)}…` : line);
}
