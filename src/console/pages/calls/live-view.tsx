/** A call that runs: how far it is, and its answer as it comes, for those who may read bodies. It becomes the ended call by itself. */
import { useEffect, useRef } from "preact/hooks";
import { placeOf } from "../../data/call-facts.ts";
import { now } from "../../data/clock.ts";
import { type LiveCall, type LivePart, useLiveCall } from "../../data/live-call.ts";
import { readOnly } from "../../data/session.ts";
import type { runningCalls } from "../../data/types.ts";
import { useApi } from "../../data/use-api.ts";
import { whole } from "../../numbers/counts.ts";
import { duration } from "../../numbers/durations.ts";
import { Tag } from "../../parts/controls.tsx";
import { Mark } from "../../parts/icons.tsx";
import { Money, Time } from "../../parts/numbers.tsx";
import { PHASES } from "../now/running.tsx";

/** Between two questions whether it runs, or whether its record is there. Milliseconds. */
const EVERY = 1_000;
/** Questions after which a call without a record does not exist. */
const PATIENCE = 4;

interface Props {
  id: string;
  /** The call has ended: its record may be there. */
  onEnd: () => void;
  onNone: () => void;
}

export function LiveView({ id, onEnd, onNone }: Props) {
  const why = readOnly();
  const live = useLiveCall(why === undefined ? id : undefined);
  const listed = useApi<typeof runningCalls>("/calls/running", { every: EVERY });
  const found = listed.data?.calls.find((one) => one.id === id);
  // The list has the name of its key.
  const call = live.call ? { ...found, ...live.call } : found;
  const isUnwatched = live.error !== undefined || !live.call;
  const isOver = live.ended !== undefined || (listed.data !== undefined && !found && isUnwatched);
  const asked = useRef(0);
  useEffect(() => {
    if (!isOver) return;
    const timer = setInterval(() => {
      if (asked.current++ >= PATIENCE && !live.call) onNone();
      else onEnd();
    }, EVERY);
    return () => clearInterval(timer);
  }, [isOver, live.call !== undefined]);
  if (!call) return null;
  return (
    <div class="detail wide">
      <section>
        <Far call={call} ended={live.ended} />
      </section>
      <section>
        <h2>Answer</h2>
        {why !== undefined || live.error ? (
          <p class="mid">
            {why === undefined ? live.error!.message : "This key sees how far the call is, not its text."}
          </p>
        ) : (
          <Answer live={live} streams={call.stream} />
        )}
      </section>
    </div>
  );
}

function Far({ call, ended }: { call: NonNullable<LiveCall["call"]>; ended: LiveCall["ended"] }) {
  const { startedAt, model, phase, stream, output, cost, provider, deployment, attempts, keyName, key } =
    call;
  const state = ended
    ? ended.lost
      ? "its worker has ended"
      : "ended"
    : phase === "answering" && !stream
      ? "answering"
      : PHASES[phase];
  return (
    <p class="say">
      <Mark state={ended?.lost ? "bad" : "ok"}>{ended ? state : `Runs: ${state}`}</Mark> <b>{model}</b>
      {provider !== undefined && ` at ${placeOf({ provider, deployment: deployment ?? "" })}`}
      {attempts > 1 && `, try ${attempts}`}
      {(keyName ?? key) !== undefined && `, for ${keyName ?? key}`}, since <Time at={startedAt} />
      {!ended && `, for ${duration(Math.max(0, Math.floor((now.value - startedAt) / 100) * 100))}`}.{" "}
      {output > 0 && `~${whole(output)} tokens so far`}
      {cost !== undefined && (
        <>
          , <Money nano={cost} unsure />
        </>
      )}
    </p>
  );
}

function Answer({ live, streams }: { live: LiveCall; streams: boolean }) {
  const { parts, lost, ended } = live;
  return (
    <div class="talk">
      {lost > 0 && <p class="dim">… {whole(lost)} bytes not shown</p>}
      {parts.length === 0 && !ended && (
        <p class="dim">{streams ? "Nothing has come yet." : "The answer comes as a whole."}</p>
      )}
      {parts.map((part) => (
        <Part key={part.part} part={part} />
      ))}
    </div>
  );
}

function Part({ part: { kind, name, text } }: { part: LivePart }) {
  return (
    <div class="turn assistant">
      <span class="dim">{kind === "text" ? "answer" : <Tag>{kind}</Tag>}</span>
      <div>
        {name !== undefined && <code>{name}</code>}
        <pre class="said">{text}</pre>
      </div>
    </div>
  );
}
