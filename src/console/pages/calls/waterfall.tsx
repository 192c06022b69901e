/** Where the time of a call went: a line for each attempt, the parts of the last one beneath it, on one scale. */
import { paceOf, placeOf } from "../../data/call-facts.ts";
import type { CallEntry } from "../../data/types.ts";
import { duration } from "../../numbers/durations.ts";
import { labelAt } from "./failures.ts";

export interface Line {
  label: string;
  /** A part of the line above. */
  sub?: boolean;
  look: "fail" | "wait" | "stream" | "think" | "connect" | "pause" | "own";
  /** Milliseconds since the beginning of the call. */
  from: number;
  ms: number;
  /** The failure, as words. */
  why?: string;
}

/** The lines of a call. Their times are those of the record: what it does not know has no line. */
export function linesOf(call: CallEntry): Line[] {
  const { attempts, ms, ownMs = 0, headMs, firstMs } = call;
  const lines: Line[] = [];
  const tried = attempts.reduce((sum, attempt) => sum + attempt.ms, 0);
  // Pauses between attempts are what is left when weir's own time and the attempts are taken away.
  const pause = Math.max(0, ms - ownMs - tried) / Math.max(1, attempts.length - 1);
  let at = ownMs;
  for (const [index, attempt] of attempts.entries()) {
    const last = index === attempts.length - 1;
    const number = attempts.length > 1 ? `try ${index + 1}: ` : "";
    const failed = attempt.class !== "answered";
    lines.push({
      label: number + placeOf(attempt),
      look: failed ? "fail" : "wait",
      from: at,
      ms: last ? Math.max(attempt.ms, ms - at) : attempt.ms,
      ...(failed && { why: labelAt(call, index) }),
    });
    if (last) lines.push(...partsOf(call, at));
    at += attempt.ms;
    if (!last && pause >= 1) {
      lines.push({ label: "pause", sub: true, look: "pause", from: at, ms: pause });
      at += pause;
    }
  }
  if (call.ownMs !== undefined)
    lines.push({ label: "weir itself", sub: true, look: "own", from: 0, ms: ownMs });
  if (attempts.length === 0 && headMs === undefined && firstMs === undefined && call.ownMs === undefined)
    lines.push({ label: "weir itself", look: "own", from: 0, ms });
  return lines;
}

function partsOf(call: CallEntry, begin: number): Line[] {
  const { headMs, firstMs, ms } = call;
  const parts: Line[] = [];
  let at = begin;
  if (headMs !== undefined && headMs > at) {
    parts.push({ label: "wait for the head", sub: true, look: "wait", from: at, ms: headMs - at });
    at = headMs;
  }
  if (firstMs !== undefined && firstMs >= at) {
    const reasons = call.attempts.at(-1)!.usage.reasoning > 0;
    const label = reasons ? "reasoning, then first token" : "first token";
    if (firstMs - at >= 0.5)
      parts.push({ label, sub: true, look: reasons ? "think" : "connect", from: at, ms: firstMs - at });
    const pace = paceOf(call);
    const what = call.stream ? "stream" : "answer";
    parts.push({
      label:
        pace === undefined ? what : `${what}, ${pace < 10 ? pace.toFixed(1) : Math.round(pace)} tokens/s`,
      sub: true,
      look: call.outcome === "failed" ? "fail" : "stream",
      from: firstMs,
      ms: Math.max(0, ms - firstMs),
    });
  }
  return parts;
}

/** Longest label beside a bar; its title and the facts of the call have all of it. Characters. */
const LABEL = 52;

/** How an attempt failed: in its bar, or on the side of it that has more room. Shares of the whole. */
function Why({ text, from, to }: { text: string; from: number; to: number }) {
  const inside = to - from > 0.5;
  const behind = 1 - to >= from;
  const [x, dx, anchor] = inside ? [from, 6, "start"] : behind ? [to, 6, "start"] : [from, -6, "end"];
  return (
    <text
      class={`why ${inside ? "inside" : ""}`}
      x={`${(x * 100).toFixed(2)}%`}
      dx={dx}
      y="12"
      text-anchor={anchor}
    >
      {text.length > LABEL ? `${text.slice(0, LABEL - 1).toWellFormed()}…` : text}
    </text>
  );
}

const QUARTERS = [0.25, 0.5, 0.75, 1];
/** Nothing is thinner than this share of the whole. */
const THINNEST = 0.005;

export function Waterfall({ call }: { call: CallEntry }) {
  const lines = linesOf(call);
  const total = Math.max(call.ms, 0.01);
  const percent = (share: number) => `${(share * 100).toFixed(2)}%`;
  return (
    <div class="wf" role="table" aria-label="Where the time went">
      <div class="row" role="row">
        <div class="l axis" role="columnheader">
          <span class="vh">Part</span>
        </div>
        <div class="b axis" role="presentation">
          <svg aria-hidden="true">
            {QUARTERS.map((share) => (
              <text key={share} x={percent(share)} y="12" text-anchor="end">
                {duration(total * share)}
              </text>
            ))}
          </svg>
        </div>
        <div class="t axis" role="columnheader">
          <span class="vh">Time</span>
        </div>
      </div>
      {lines.map(({ label, sub, look, from, ms, why }, at) => {
        const width = Math.min(1, Math.max(THINNEST, ms / total));
        return (
          <div class="row" role="row" key={at}>
            <div
              class={`l ${sub ? "sub" : ""}`}
              role="rowheader"
              title={why === undefined ? label : `${label}: ${why}`}
            >
              {label}
              {why !== undefined && <span class="vh"> {why}</span>}
            </div>
            <div class="b" role="presentation">
              <svg aria-hidden="true">
                {QUARTERS.map((share) => (
                  <line class="rule" key={share} x1={percent(share)} x2={percent(share)} y1="-6" y2="22" />
                ))}
                <rect
                  class={look}
                  x={percent(Math.min(from / total, 1 - width))}
                  width={percent(width)}
                  y="3"
                  height="10"
                  rx="1"
                />
                {why !== undefined && <Why text={why} from={from / total} to={from / total + width} />}
              </svg>
            </div>
            <div class="t" role="cell">
              {duration(ms)}
            </div>
          </div>
        );
      })}
    </div>
  );
}
