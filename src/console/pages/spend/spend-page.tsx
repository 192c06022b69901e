/** The page Spend: what was spent in a time, by group, against the time before. */
import type { FilledIn, usage as getUsage } from "../../data/types.ts";
import { now } from "../../data/clock.ts";
import { query, setQuery } from "../../data/location.ts";
import { queryOf } from "../../data/api.ts";
import { rangeOf } from "../../data/range.ts";
import { useApi } from "../../data/use-api.ts";
import { Button, Segments } from "../../parts/controls.tsx";
import { SelectField } from "../../parts/form.tsx";
import { Panel } from "../../parts/panel.tsx";
import { PictureButtons } from "../../parts/picture-buttons.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import { coloursOf } from "../../parts/series.ts";
import { Blank, Bones, Failed } from "../../parts/states.tsx";
import { Page } from "../../shell/page.tsx";
import { NoCallYet } from "../no-call-yet.tsx";
import { SpendChart } from "./chart.tsx";
import { download } from "./csv.ts";
import {
  areDrawn,
  barsOf,
  type Dimension,
  dimensionOf,
  DIMENSIONS,
  forecastOf,
  groups,
  groupsOf,
  type Rank,
  RANKS,
  OF_CALLS,
  secondOf,
  seriesOf,
  TOGETHER,
} from "./figures.ts";
import { filtersFor, SumFilterBar } from "./filters.tsx";
import { Head } from "./head.tsx";
import { Legend } from "./legend.tsx";
import {
  before,
  beforeTitle,
  counterparts,
  HOUR,
  neighbour,
  type Period,
  periodOf,
  sizeOf,
  titleOf,
} from "./period.ts";
import { statementOf } from "./statement.ts";
import { ProofLine } from "./proof.tsx";
import { SpendTable } from "./table.tsx";

/** The sums are read again after this time. Milliseconds. */
const EVERY = 30_000;
const USUAL = "month";

export function SpendPage() {
  const values = query.value;
  const asked: Dimension = Object.hasOwn(DIMENSIONS, values["by"] ?? "")
    ? (values["by"] as Dimension)
    : "model";
  const range = rangeOf(values, USUAL);
  const period = periodOf(range, now.value);
  const filters = filtersFor(values);
  const groupNames = groupsOf(asked);

  const isShort = period.step === "5min";
  // The sums of the books are of whole hours.
  const exact = isShort ? { exact: "true" } : {};
  const isOfCalls = isShort || Object.keys({ ...filters, [asked]: 1 }).some((name) => OF_CALLS.has(name));

  const usage = (
    by: readonly string[],
    { from, to }: { from: number; to: number },
  ): FilledIn<typeof getUsage> => `/usage${queryOf({ by, from, to, ...filters, ...exact })}`;
  const whole = { from: period.from, to: period.end };
  const table = useApi<typeof getUsage>(usage(groupNames, whole), { every: EVERY });
  const earlier = useApi<typeof getUsage>(usage(groupNames, settled(before(period), period)));
  const total = table.data?.total;
  const dimension = dimensionOf(table.data?.rows ?? [], asked);
  const rank: Rank = Object.hasOwn(RANKS, values["rank"] ?? "") ? (values["rank"] as Rank) : "cost";
  const second = secondOf(dimension, values["then"]);
  const all = groups(table.data?.rows ?? [], earlier.data?.rows ?? [], dimension, rank);
  const isDrawn = areDrawn(all, total, dimension);
  const drawn = useApi<typeof getUsage>(usage([period.step, ...(isDrawn ? groupNames : [])], whole), {
    every: EVERY,
  });
  const past = useApi<typeof getUsage>(usage([period.step], counterparts(period)));
  const series = isDrawn
    ? seriesOf(
        all.toSorted((a, b) => b.cost - a.cost),
        coloursOf,
      )
    : TOGETHER;
  const bars = barsOf({ rows: drawn.data?.rows ?? [], past: past.data?.rows ?? [] }, series, {
    period,
    dimension,
    now: now.value,
  });
  const title = titleOf(range, period);
  const against = beforeTitle(range, period);
  const calls = { ...filters, ...rangeForCalls(period, range.name) };
  return (
    <Page
      title="Spend"
      right={
        <>
          <Steps period={period} />
          <RangePicker usual={USUAL} />
          <Button kind="quiet" class="w3" title="This page on paper" onClick={() => print()}>
            Print
          </Button>
          <PictureButtons name={`Spend, ${title}`} />
          <Files
            usage={(by) => usage(by, whole)}
            name={`spend-${new Date(period.from).toISOString().slice(0, 10)}`}
            groups={groupNames}
          />
        </>
      }
    >
      <SumFilterBar query={values} />
      <p class="print">{statementOf({ host: location.host, period, filters, now: now.value })}</p>
      {table.error && !table.data && table.error.status !== 401 ? (
        <Failed what="Spend" error={table.error} again={table.again} />
      ) : (
        <>
          <div class="spend-head">
            <Head {...{ total, title, period, calls }} forecast={drawn.data && forecastOf(bars, period)} />
            <Segments
              label="Group by"
              options={Object.entries(DIMENSIONS) as [Dimension, string][]}
              value={asked}
              onChoose={(by) =>
                setQuery({ by: by === "model" ? undefined : by, then: undefined, divided: undefined })
              }
            />
            <Order {...{ dimension, second, rank }} />
          </div>
          <Panel
            label={`Spend by ${DIMENSIONS[dimension].toLowerCase()}`}
            busy={table.busy || drawn.busy}
            foot={
              total && total.calls > 0 ? (
                <ProofLine
                  completeFrom={table.data?.completeFrom}
                  searchedTo={table.data?.searchedTo}
                  {...{ period, isOfCalls }}
                />
              ) : undefined
            }
          >
            {total === undefined ? (
              table.slow && <Bones rows={8} />
            ) : total.calls === 0 ? (
              <NoCallYet>
                <Blank title="No calls in this time.">
                  {Object.keys(filters).length > 0
                    ? "All filters together exclude every call of this time."
                    : "What calls cost is added up here as they end."}
                </Blank>
              </NoCallYet>
            ) : (
              <>
                <div class="body stack">
                  <Legend
                    {...{ series, bars }}
                    step={period.step}
                    tick={period.step === "day" ? `same weekday of ${against}` : "same time a week before"}
                  />
                  <SpendChart
                    {...{ bars, series, period }}
                    filters={filters}
                    label={`Spend by ${isShort ? "5 minutes" : period.step}; the table below has the same figures by ${DIMENSIONS[dimension].toLowerCase()}`}
                  />
                </div>
                <SpendTable
                  {...{ groups: all, series, total, dimension, title, against, calls, rank, second }}
                  sums={{ ...filters, ...whole, ...exact }}
                  before={earlier.data?.total}
                />
              </>
            )}
          </Panel>
        </>
      )}
    </Page>
  );
}

/** The rows of the table as files: in dollars with nine decimals, with the time and all sums. */
function Files(props: { usage: (by: readonly string[]) => string; name: string; groups: readonly string[] }) {
  const { usage, name, groups } = props;
  const isByDay = groups.includes("day");
  return (
    <>
      <Button kind="quiet" class="w3" onClick={() => void download(usage(groups), `${name}.csv`)}>
        CSV
      </Button>
      {!isByDay && (
        <Button
          kind="quiet"
          class="w3"
          onClick={() => void download(usage(["day", ...groups]), `${name}-days.csv`)}
        >
          CSV by day
        </Button>
      )}
    </>
  );
}

/** By what rows are ordered, and by what a row is divided. */
function Order({ dimension, second, rank }: { dimension: Dimension; second: Dimension; rank: Rank }) {
  const others = (Object.entries(DIMENSIONS) as [Dimension, string][]).filter(([name]) => name !== dimension);
  return (
    <div class="order">
      <SelectField
        label="Rank by"
        options={Object.entries(RANKS) as [Rank, string][]}
        value={rank}
        onChange={(to) => setQuery({ rank: to === "cost" ? undefined : to })}
      />
      <SelectField
        label="Then by"
        options={others}
        value={second}
        onChange={(to) => setQuery({ then: to })}
      />
    </div>
  );
}

/** To the period before, and to the next. */
function Steps({ period }: { period: Period }) {
  const step = (by: -1 | 1) => {
    const { from, to } = neighbour(period, by);
    const isPast = to <= Date.now();
    setQuery(isPast ? { range: undefined, from, to } : { from: undefined, to: undefined });
  };
  return (
    <span class="nowrap">
      <Button kind="quiet" aria-label="The period before" onClick={() => step(-1)}>
        ‹
      </Button>
      <Button kind="quiet" aria-label="The next period" disabled={period.open} onClick={() => step(1)}>
        ›
      </Button>
    </span>
  );
}

/** The range of Calls that has the same calls. A month is the same range there. */
function rangeForCalls({ from, end, open }: Period, name: string | undefined) {
  if (name === "month") return { range: "month" };
  return { from, to: open ? undefined : end };
}

/** Of whole buckets: a time that moves with each minute would be a new request each minute. */
function settled({ from, to }: { from: number; to: number }, { step }: Period) {
  const size = step === "5min" ? sizeOf(step) : HOUR;
  return { from: Math.floor(from / size) * size, to: Math.floor(to / size) * size };
}
