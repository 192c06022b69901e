/** Figures in tables and sentences. */
import { now } from "../data/clock.ts";
import { dollars, exactDollars, MISSING } from "../numbers/money.ts";
import { ago, moment, utc } from "../numbers/times.ts";
import { Tag } from "./controls.tsx";

/** States of a charge that are not certain: they get `~` and a hatched line. */
const UNCERTAIN = new Set(["estimated", "assumed"]);

interface MoneyProps {
  /** Nano-dollars. */
  nano: number | null | undefined;
  /** State of the charge. */
  state?: string | undefined;
  /** Nothing is certain about it: like the state `estimated`. */
  unsure?: boolean;
}

/** An amount in a sentence. */
export function Money({ nano, state, unsure }: MoneyProps) {
  if (state === "unpriced") return <Unpriced />;
  if (nano === null || nano === undefined) return <span class="dim">{MISSING}</span>;
  const doubt = unsure ?? (state !== undefined && UNCERTAIN.has(state));
  return (
    <span
      class={doubt ? "unsure nowrap" : nano === 0 ? "dim" : "nowrap"}
      title={`${exactDollars(nano)}${state === undefined ? "" : ` · ${state}`}`}
    >
      {doubt ? "~" : ""}
      {dollars(nano)}
    </span>
  );
}

/** An amount in a column: the decimal points are under each other. @param props.fraction room for it in characters, with the point */
export function MoneyCell({ nano, state, unsure, fraction = 8 }: MoneyProps & { fraction?: 4 | 6 | 7 | 8 }) {
  if (state === "unpriced") return <Unpriced />;
  if (nano === null || nano === undefined) return <span class="dim">{MISSING}</span>;
  const doubt = unsure ?? (state !== undefined && UNCERTAIN.has(state));
  const [whole, rest] = dollars(nano).split(".");
  const look = doubt ? "unsure" : nano === 0 ? "dim" : "";
  return (
    <span
      class={`money f${fraction}`}
      title={`${exactDollars(nano)}${state === undefined ? "" : ` · ${state}`}`}
    >
      <span class={look}>
        {doubt ? "~" : ""}
        {whole}
      </span>
      <i>{rest !== undefined && <span class={look}>.{rest}</span>}</i>
    </span>
  );
}

export function Unpriced() {
  return (
    <Tag look="hatch" title="Tokens are known, the price is not. This is not $0.">
      unpriced
    </Tag>
  );
}

/** A moment in local time, with UTC on hover. */
export function Time({ at, text }: { at: number; text?: string }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={utc(at)}>
      {text ?? moment(at)}
    </time>
  );
}

/** `4 min ago`; it counts on. */
export function Ago({ at }: { at: number | undefined }) {
  if (at === undefined) return <span class="dim">never</span>;
  return <Time at={at} text={ago(at, now.value)} />;
}
