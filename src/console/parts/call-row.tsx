/** A row of a call, and the head of its table. Cost and Took never leave the screen. */
import {
  chargeStateOf,
  costOf,
  failedTries,
  isAsAsked,
  servedBy,
  targetOf,
  tokensOf,
  verdictOf,
} from "../data/call-facts.ts";
import type { CallEntry } from "../data/types.ts";
import { count, counted, percent } from "../numbers/counts.ts";
import { duration } from "../numbers/durations.ts";
import { Tag } from "./controls.tsx";
import { Mark } from "./icons.tsx";
import { MoneyCell, Time } from "./numbers.tsx";
import { SortHead } from "./sort.tsx";

/** The time that fills the width of a micro waterfall. Milliseconds; longer ones are slashed. */
export const SCALE = 12_000;

interface Column {
  title: string;
  look: string;
  /** Only where the table has the whole width. */
  wide?: boolean;
  /** Value of `sort`. */
  by?: string;
}

const COLUMNS: readonly Column[] = [
  // As they are listed: by their end.
  { title: "Ended", look: "" },
  { title: "Status", look: "" },
  { title: "Key", look: "" },
  { title: "Model", look: "" },
  { title: "", look: "w2", wide: true },
  { title: "In", look: "num", wide: true, by: "tokens" },
  { title: "Cached", look: "num w1", wide: true },
  { title: "Out", look: "num", wide: true },
  { title: "First token", look: "num w2", wide: true, by: "first" },
  { title: "Took", look: "num", by: "took" },
  { title: "Wait, stream", look: "w1", wide: true },
  { title: "Cost", look: "num", by: "cost" },
];

/** @param props.ordered its heads order the calls */
export function CallHead({ wide, ordered }: { wide: boolean; ordered: boolean }) {
  return (
    <thead>
      <tr>
        {COLUMNS.filter((column) => wide || !column.wide).map(({ title, look, by }) =>
          by !== undefined && ordered ? (
            <SortHead by={by} look={look} key={title}>
              {by === "tokens" ? <span title="Input and output">{title}</span> : title}
            </SortHead>
          ) : (
            <th class={look} scope="col" key={title}>
              {title === "" ? <span class="vh">Remarks</span> : title}
            </th>
          ),
        )}
      </tr>
    </thead>
  );
}

export function CallRow(props: {
  call: CallEntry;
  wide: boolean;
  selected?: boolean;
  fresh?: boolean;
  onOpen: (id: string) => void;
}) {
  const { call, wide, selected = false, fresh = false, onOpen } = props;
  const { input, cacheRead, output } = tokensOf(call);
  const target = targetOf(call);
  return (
    <tr
      tabIndex={0}
      data-id={call.id}
      aria-selected={selected}
      class={fresh ? "new" : ""}
      onClick={() => onOpen(call.id)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && event.target === event.currentTarget) onOpen(call.id);
      }}
    >
      <td class="p-time">
        <Time at={call.startedAt + call.ms} />
      </td>
      <td class="p-status">
        <CallVerdict call={call} />
        {(call.attempts.length > 1 || (call.losses?.length ?? 0) > 0) && (
          <span class={wide ? "remarked" : ""}>
            {" "}
            <Remarks call={call} />
          </span>
        )}
      </td>
      <td class="p-key clip">{call.keyName ?? call.key ?? <span class="dim">no key</span>}</td>
      <td class="p-model clip" title={target === undefined ? call.model : `${call.model} → ${target}`}>
        {isAsAsked(call) ? (
          // A call that was refused before its body was read has no model.
          target || call.model || <span class="dim">no model</span>
        ) : (
          <>
            {call.model}
            <span class="dim"> → {wide ? target : servedBy(call)?.model}</span>
          </>
        )}
      </td>
      {wide && (
        <>
          <td class="p-tags w3 w2">
            <Remarks call={call} />
          </td>
          <td class="num w3">{dash(input, count)}</td>
          <td class="num dim w3 w1">{cacheRead > 0 ? percent(cacheRead / input) : "–"}</td>
          <td class="num w3">{dash(output, count)}</td>
          <td class="num w3 w2">{dash(call.firstMs, duration)}</td>
        </>
      )}
      <td class="num p-took">{duration(call.ms)}</td>
      {wide && (
        <td class="w3 w1">
          <MicroWaterfall call={call} />
        </td>
      )}
      <td class="num p-cost">
        <MoneyCell nano={costOf(call)} state={chargeStateOf(call)} />
      </td>
    </tr>
  );
}

function dash(value: number | undefined, print: (value: number) => string) {
  return value === undefined || value === 0 ? <span class="dim">–</span> : print(value);
}

/** A call that went well is a grey status without a shape. */
export function CallVerdict({ call }: { call: CallEntry }) {
  const { state, word } = verdictOf(call);
  return state === undefined ? <span class="fine">{word}</span> : <Mark state={state}>{word}</Mark>;
}

function Remarks({ call }: { call: CallEntry }) {
  const tries = call.attempts.length;
  const losses = call.losses?.length ?? 0;
  return (
    <>
      {tries > 1 && <Tag look="warn">{tries} tries</Tag>}
      {tries > 1 && losses > 0 && " "}
      {losses > 0 && <Tag>{counted(losses, "loss", "losses")}</Tag>}
    </>
  );
}

const WIDTH = 112;

/** Failed attempts, waiting, streaming: where the time of a call went, at a glance. */
function MicroWaterfall({ call }: { call: CallEntry }) {
  const place = (ms: number) => Math.min(WIDTH, (ms / SCALE) * WIDTH);
  const tried = failedTries(call).reduce((sum, { ms }) => sum + ms, 0);
  const first = Math.max(tried, call.firstMs ?? call.ms);
  const width = (from: number, to: number) => Math.max(1, place(to) - place(from));
  return (
    <svg class="mw" width={WIDTH} height="12" aria-hidden="true">
      {tried > 0 && <rect class="fail" width={Math.max(2, place(tried))} y="2" height="8" />}
      <rect
        class={call.outcome === "failed" && call.firstMs === undefined ? "fail" : "wait"}
        x={place(tried)}
        width={width(tried, first)}
        y="2"
        height="8"
      />
      {call.firstMs !== undefined && (
        <rect
          class={call.outcome === "failed" ? "fail" : "stream"}
          x={place(first)}
          width={width(first, call.ms)}
          y="2"
          height="8"
        />
      )}
      {call.ms > SCALE && <path class="cut" d={`M${WIDTH - 12} 12l4-12h3l-4 12z`} />}
    </svg>
  );
}
