/** Calls that run, the longest first. */
import { placeOf } from "../../data/call-facts.ts";
import { now } from "../../data/clock.ts";
import { hrefOf, query } from "../../data/location.ts";
import type { RunningCall, RunningCalls } from "../../data/types.ts";
import { counted, whole } from "../../numbers/counts.ts";
import { duration } from "../../numbers/durations.ts";
import { MoneyCell, Time } from "../../parts/numbers.tsx";
import { Panel } from "../../parts/panel.tsx";

const SHOWN = 10;
/** The page stays quick with these. */
const MOST = 200;

export const PHASES: Readonly<Record<RunningCall["phase"], string>> = {
  starting: "before the first try",
  waiting: "waiting for the answer",
  answering: "streaming",
};

export function RunningTable({ running }: { running: RunningCalls | undefined }) {
  if (!running || running.total === 0) return null;
  const isAll = query.value["running"] === "all";
  const shown = running.calls.toSorted((a, b) => a.startedAt - b.startedAt).slice(0, isAll ? MOST : SHOWN);
  const hidden = running.total - shown.length;
  const more = `and ${counted(hidden, "call")} more`;
  return (
    <Panel title="Running" right={<span class="dim">longest first</span>}>
      <div class="scroll">
        <table class="tbl stackrows tight">
          <thead>
            <tr>
              {COLUMNS.map(([title, look]) => (
                <th class={look} scope="col" key={title}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((call) => (
              <Row key={call.id} call={call} />
            ))}
          </tbody>
        </table>
      </div>
      {hidden > 0 && (
        <div class="more">
          {isAll ? (
            more
          ) : (
            <a class="fig" href={hrefOf("/", { running: "all" })}>
              {more}
            </a>
          )}
        </div>
      )}
    </Panel>
  );
}

const COLUMNS = [
  ["Since", ""],
  ["Elapsed", "num"],
  ["Key", ""],
  ["Model", ""],
  ["Tokens so far", "num w3"],
  ["State", "w3 w2"],
  ["Held", "num"],
] as const;

function Row({ call }: { call: RunningCall }) {
  const {
    id,
    startedAt,
    key,
    keyName,
    model,
    provider,
    deployment,
    target,
    phase,
    attempts,
    output,
    held,
    stream,
  } = call;
  const became = target === undefined ? undefined : `${provider ?? ""}/${target}`;
  const where = provider === undefined ? "" : ` at ${placeOf({ provider, deployment: deployment ?? "" })}`;
  return (
    <tr>
      <td class="p-time">
        <a class="fig anywhere" href={hrefOf(`/calls/${id}`)} title="Open the call">
          <Time at={startedAt} />
        </a>
      </td>
      <td class="num p-took">{duration(Math.max(0, Math.floor((now.value - startedAt) / 100) * 100))}</td>
      <td class="p-key clip">{keyName ?? key ?? <span class="dim">no key</span>}</td>
      <td class="p-model clip" title={`${became ?? model}${where}`}>
        {became === undefined || target === model || became === model ? (
          (became ?? model)
        ) : (
          <>
            {model}
            <span class="dim"> → {became}</span>
          </>
        )}
      </td>
      <td class="num w3">{output === 0 ? <span class="dim">–</span> : `~${whole(output)}`}</td>
      <td class="w3 w2 dim">
        {phase === "answering" && !stream ? "answering" : PHASES[phase]}
        {attempts > 1 && `, try ${attempts}`}
      </td>
      <td class="num p-cost">
        <MoneyCell nano={held} fraction={7} />
      </td>
    </tr>
  );
}
