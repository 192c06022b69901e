/** A call in one sentence: who reads only this has read the page. */
import { chargeStateOf, costOf, placeOf, REFUSED_BY, servedBy } from "../../data/call-facts.ts";
import type { CallEntry } from "../../data/types.ts";
import { hrefOf } from "../../data/location.ts";
import { duration } from "../../numbers/durations.ts";
import { dollars } from "../../numbers/money.ts";
import { count } from "../../numbers/counts.ts";
import { moment, utc } from "../../numbers/times.ts";
import { Money, Time } from "../../parts/numbers.tsx";
import { adviceOn, failedOf, TIMES } from "./failures.ts";

export function Sentence({ call }: { call: CallEntry }) {
  return <p class="say">{call.refused !== undefined ? <Refused call={call} /> : SAY[call.outcome](call)}</p>;
}

const SAY: Readonly<Record<CallEntry["outcome"], (call: CallEntry) => preact.ComponentChildren>> = {
  complete: (call) => <Complete call={call} />,
  cancelled: (call) => <Left call={call} />,
  failed: (call) => <FailedCall call={call} />,
};

const LANES: Readonly<Record<string, string>> = {
  native: "Passed through to",
  translated: "Translated for",
  generated: "Answered by",
};

function Complete({ call }: { call: CallEntry }) {
  const served = servedBy(call);
  if (!served)
    return (
      <>
        Answered by weir itself in <b>{duration(call.ms)}</b>. Nothing was sent, nothing is booked.
      </>
    );
  const isFirst = call.attempts.length < 2;
  const answered = call.lane === "generated" && isFirst ? "" : "answered ";
  return (
    <>
      <Tried call={call} look="c-warn" join=", " />
      {isFirst && `${LANES[call.lane ?? "native"]} `}
      <b>{placeOf(served)}</b>
      {isFirst ? ", " : " "}
      {answered}in <b>{duration(call.ms)}</b>
      {chargeStateOf(call) === "unpriced" ? (
        ", price unknown."
      ) : (
        <>
          , for{" "}
          <b>
            <Cost call={call} />
          </b>
          .
        </>
      )}
    </>
  );
}

/** `anthropic answered 529 twice`: the attempts that failed. @param props.join between them, and behind the last one */
function Tried({
  call,
  look,
  join,
  full = false,
}: {
  call: CallEntry;
  look: string;
  join: string;
  full?: boolean;
}) {
  return failedOf(call).map(({ place, did, more, times }, at) => (
    <span key={at}>
      <b>{place}</b> <span class={look}>{did}</span>
      {full && <span class="mid">{more.replace(/\.$/, "")}</span>}
      {full && more !== "" && times > 1 && ","}
      {TIMES[times] ?? ` ${times} times`}
      {join}
    </span>
  ));
}

function Cost({ call }: { call: CallEntry }) {
  return <Money nano={costOf(call)} state={chargeStateOf(call)} />;
}

/** The tokens of a stream that was left are an upper bound of what the provider wrote: the page shows no number of them. */
function Left({ call }: { call: CallEntry }) {
  const state = chargeStateOf(call);
  return (
    <>
      The client left after <b>{duration(call.ms)}</b>
      {call.attempts.length === 0
        ? ", before anything was sent. Nothing is booked."
        : call.firstMs === undefined
          ? ", before the first token"
          : `, ${duration(Math.max(0, call.ms - call.firstMs))} after the first token`}
      {call.attempts.length > 0 && (
        <>
          {state === "unpriced" ? (
            ", without a price."
          ) : (
            <>
              , booked as {state}, <Cost call={call} />.
            </>
          )}
        </>
      )}
    </>
  );
}

/** The unit of a rate limit, as it follows an amount. */
const UNITS: Readonly<Record<string, string>> = {
  rpm: "calls a minute",
  rpd: "calls a day",
  tpm: "tokens a minute",
  itpm: "input tokens a minute",
  otpm: "output tokens a minute",
  tpd: "tokens a day",
  concurrency: "calls at once",
};

function RefusedByRule({ by }: { by: NonNullable<CallEntry["refusedBy"]> }) {
  const { kind, id, name, unit = "", limit, needed, left, until } = by;
  const isBudget = kind === "budget";
  const amount = isBudget ? dollars : count;
  return (
    <>
      <span class="c-warn">
        Refused by the {isBudget ? "budget" : "rate limit"} <b>{name}</b>
      </span>
      {left === undefined || limit === undefined ? (
        ", whose amounts this session may not see"
      ) : (
        <>
          {": "}
          {needed !== undefined && `this call ${isBudget ? "may cost" : "needs"} ${amount(needed)}, `}
          {amount(left)} of {amount(limit)} {UNITS[unit] ?? ""} is left
        </>
      )}
      {until !== undefined && (
        <>
          {" "}
          until <Time at={until} text={isBudget ? utc(until).replace(/:00 UTC/, " UTC") : moment(until)} />
        </>
      )}
      .{" "}
      {isBudget && limit !== undefined && (
        <>
          <a href={hrefOf("/keys", { raise: id })}>Raise</a>
          {" · "}
        </>
      )}
      <a class="nowrap" href={hrefOf("/calls", { fact: `rule:${id}` })}>
        Who else was refused
      </a>
    </>
  );
}

function Refused({ call }: { call: CallEntry }) {
  if (call.refusedBy) return <RefusedByRule by={call.refusedBy} />;
  const rule = REFUSED_BY[call.refused ?? ""] ?? call.refused;
  return (
    <>
      <span class="c-warn">Refused by {rule}</span>
      {call.error?.code !== undefined && <span class="mid"> ({call.error.code})</span>}, with status{" "}
      {call.status}. Nothing was sent, nothing is booked.
    </>
  );
}

function FailedCall({ call }: { call: CallEntry }) {
  const { attempts, error, status } = call;
  const cost = costOf(call);
  const advice = adviceOn(call);
  const broke = call.firstMs !== undefined && status < 400;
  return (
    <>
      <Tried call={call} look="c-bad" join={". "} full />
      {attempts.length === 0 && "It reached no provider. "}
      {broke ? "The answer broke off" : "The client got "}
      {!broke && <b>{status}</b>} {error?.code ?? error?.kind ?? ""} after <b>{duration(call.ms)}</b>.{" "}
      {cost === 0 ? (
        chargeStateOf(call) === "unpriced" ? (
          "Its price is unknown."
        ) : (
          "Nothing is booked."
        )
      ) : (
        <>
          <Cost call={call} /> is booked.
        </>
      )}
      {advice !== undefined && (
        <>
          {" "}
          <a href={hrefOf("/providers")}>{advice}</a>
        </>
      )}
    </>
  );
}
