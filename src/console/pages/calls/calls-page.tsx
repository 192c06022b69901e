/** Calls: what a filter finds, its sums, and one call beside the list. */
import type { CallsSummary, summarizeCalls } from "../../data/types.ts";
import { useEffect, useMemo } from "preact/hooks";
import { queryOf } from "../../data/api.ts";
import { apiFilter, FILTERS, filtersOf, noFilters } from "../../data/filters.ts";
import { go, query, setQuery } from "../../data/location.ts";
import { useNewer } from "../../data/newer.ts";
import { rangeOf } from "../../data/range.ts";
import { type Reading, useApi } from "../../data/use-api.ts";
import { type CallList, useCalls } from "../../data/use-pages.ts";
import { counted, whole } from "../../numbers/counts.ts";
import { dollars } from "../../numbers/money.ts";
import { minute, moment } from "../../numbers/times.ts";
import { CallHead, CallRow } from "../../parts/call-row.tsx";
import { Button, Figure } from "../../parts/controls.tsx";
import { FilterBar } from "../../parts/filter-bar.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import { Blank, Bones, Failed } from "../../parts/states.tsx";
import { onKey } from "../../shell/shortcuts.ts";
import { Page } from "../../shell/page.tsx";
import { NoCallYet } from "../no-call-yet.tsx";
import { downloadCsv } from "./csv.ts";
import { Histogram } from "./histogram.tsx";
import { Peek } from "./peek.tsx";

const USUAL_RANGE = "24h";
/** The list is read again this often while its range ends now. Milliseconds. */
const AGAIN = 30_000;
const HOUR = 3_600_000;

export function CallsPage() {
  const values = query.value;
  const { open, sort } = values;
  const filters = JSON.stringify(filtersOf(values));
  const range = `${values["range"]} ${values["from"]} ${values["to"]}`;
  // The range of a page that stays open would otherwise move with each key that is pressed.
  const asked = useMemo(() => {
    const { from, to } = rangeOf(values, USUAL_RANGE);
    const filter = apiFilter(filtersOf(values));
    return { from, to, filter: queryOf(filter), query: queryOf({ ...filter, from, to }) };
  }, [filters, range]);
  const list = useCalls(`${asked.query}${sort === undefined ? "" : `&sort=${encodeURIComponent(sort)}`}`);
  const slices = open === undefined ? 96 : 24;
  const summary = useApi<typeof summarizeCalls>(
    `/calls/summary${asked.query}&slices=${slices}`,
    asked.to === undefined ? { every: AGAIN } : {},
  );

  const [newer, restart] = useNewer(asked.to === undefined ? asked.filter : undefined);
  const readNewer = () => {
    restart();
    list.again();
    summary.again();
  };

  const show = (id: string | undefined, replace = false) => setQuery({ open: id }, { replace });
  const at = list.calls.findIndex(({ id }) => id === open);
  const step = (by: number) => {
    const next = list.calls[at + by];
    if (next) show(next.id, true);
    else if (by > 0 && list.more) list.readMore();
  };
  const close = () => {
    show(undefined);
    // The row has to be drawn before it can get the focus.
    setTimeout(() => document.querySelector<HTMLElement>(`tr[data-id="${CSS.escape(open ?? "")}"]`)?.focus());
  };
  useEffect(() => {
    if (open === undefined) return;
    const undo = [
      onKey("j", () => step(1)),
      onKey("k", () => step(-1)),
      onKey("Escape", close),
      onKey("o", () => go(`/calls/${open}`)),
    ];
    return () => {
      for (const one of undo) one();
    };
  });

  const right = (
    <>
      <RangePicker usual={USUAL_RANGE} />
      <Button kind="quiet" class="w3" onClick={() => void downloadCsv(asked.query)}>
        CSV
      </Button>
    </>
  );
  return (
    <Page title="Calls" right={right}>
      <div class={`calls ${open === undefined ? "" : "open"}`}>
        <div class="list stack">
          <FilterBar fault={list.error?.status === 400 ? list.error : undefined} />
          <section class="panel" aria-label="Calls" aria-busy={list.busy}>
            <Sums reading={summary} list={list} newer={newer} onNewer={readNewer} />
            {open === undefined && summary.data && summary.data.calls > 0 && (
              <div class="body w3h">
                <Histogram summary={summary.data} from={asked.from} isOpen={asked.to === undefined} />
              </div>
            )}
            <Rows list={list} from={asked.from} to={asked.to} open={open} onOpen={(id) => show(id)} />
          </section>
        </div>
        {open !== undefined && (
          <Peek
            id={open}
            position={at === -1 ? undefined : at + 1}
            total={summary.data?.calls}
            onStep={step}
            onClose={close}
          />
        )}
      </div>
    </Page>
  );
}

interface SumsProps {
  reading: Reading<CallsSummary>;
  list: CallList;
  /** Calls that have ended since the list was read. */
  newer: number;
  onNewer: () => void;
}

function Sums({ reading, list, newer, onNewer }: SumsProps) {
  const sums = reading.data;
  if (!sums)
    return (
      <header>
        <h2>
          {list.read ? `${counted(list.calls.length, "call")}${list.more ? " and more" : ""}` : "Calls"}
        </h2>
      </header>
    );
  const { cost, uncertain, uncertainCalls = 0, unpriced, failed, completeFrom } = sums;
  return (
    <header>
      <h2>{counted(sums.calls, "call")}</h2>
      <span class="mid clip">
        {dollars(cost)}
        {uncertainCalls > 0 && (
          <>
            ,{" "}
            <Figure
              query={{ ...query.value, state: "uncertain" }}
              title={`~${dollars(uncertain)} of it is uncertain`}
            >
              <span class="unsure">{whole(uncertainCalls)} uncertain</span>
            </Figure>
          </>
        )}
        {unpriced > 0 && (
          <>
            , <Figure query={{ ...query.value, state: "unpriced" }}>{whole(unpriced)} unpriced</Figure>
          </>
        )}
        {failed > 0 && (
          <>
            , <Figure query={{ ...query.value, outcome: "failed" }}>{whole(failed)} failed</Figure>
          </>
        )}
      </span>
      <div class="right">
        {completeFrom !== undefined && (
          <span class="dim" title="Earlier calls are neither in the sums nor in the chart.">
            back to {moment(completeFrom)}
          </span>
        )}
        {newer > 0 && <Button onClick={onNewer}>Show {counted(newer, "newer call")}</Button>}
      </div>
    </header>
  );
}

interface RowsProps {
  list: CallList;
  from: number;
  to: number | undefined;
  open: string | undefined;
  onOpen: (id: string) => void;
}

function Rows({ list, from, to, open, onOpen }: RowsProps) {
  if (!list.read) {
    if (list.error?.status === 404) return <NoCalls from={from} to={to} why={list.error.message} />;
    if (list.error?.status === 400) return <Blank title="No call is shown: the filter cannot be read." />;
    if (list.error) return <Failed what="Calls" error={list.error} again={list.again} />;
    return list.slow ? <Bones rows={12} /> : <div class="unread" />;
  }
  if (list.calls.length === 0 && !list.more) return <NoCalls from={from} to={to} />;
  const wide = open === undefined;
  return (
    <>
      {list.calls.length > 0 && (
        <div class="scroll">
          <table class="tbl stackrows">
            <CallHead wide={wide} ordered />
            <tbody>
              {list.calls.map((call) => (
                <CallRow key={call.id} call={call} wide={wide} selected={call.id === open} onOpen={onOpen} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {list.bounded && query.value["sort"] === undefined ? <TooMuch list={list} /> : <More list={list} />}
    </>
  );
}

function More({ list }: { list: CallList }) {
  return (
    <div class="more">
      {list.more ? (
        <Button onClick={list.readMore} disabled={list.busy}>
          Load 60 more
        </Button>
      ) : (
        <span>That is all.</span>
      )}
      {list.bounded && (
        <span>
          In this order only the newest 350,000 calls are looked at
          {list.boundedAt !== undefined && `, back to ${moment(list.boundedAt)}`}.
        </span>
      )}
      {list.error && <span class="c-bad">{list.error.message}</span>}
    </div>
  );
}

function TooMuch({ list }: { list: CallList }) {
  const back = list.boundedAt === undefined ? "" : `, back to ${moment(list.boundedAt)}`;
  return (
    <Blank
      title={`${counted(list.calls.length, "match", "matches")} so far${back}.`}
      acts={
        <>
          <Button onClick={() => document.getElementById("filter")?.focus()}>Add a key…</Button>
          <Button onClick={list.readMore} disabled={list.busy}>
            Look further back
          </Button>
        </>
      }
    >
      The search has looked at as many calls as one answer may. Add a key or a path, which have an index, or
      go on.
    </Blank>
  );
}

/** @param props.why the filter names something that does not exist */
function NoCalls({ from, to = Date.now(), why }: { from: number; to: number | undefined; why?: string }) {
  const filters = filtersOf(query.value);
  const last = FILTERS.filter((name) => filters[name] !== undefined).at(-1);
  if (last === undefined)
    return (
      <NoCallYet>
        <Blank
          title={`No calls between ${minute(from)} and ${minute(to)}.`}
          acts={
            <Button onClick={() => setQuery({ range: undefined, from: from - HOUR, to: from })}>
              Show the hour before
            </Button>
          }
        />
      </NoCallYet>
    );
  return (
    <Blank
      title="No call matches."
      acts={
        <>
          <Button onClick={() => setQuery({ [last]: undefined })}>Remove the last filter</Button>
          <Button onClick={() => setQuery(noFilters())}>Remove all filters</Button>
        </>
      }
    >
      {why ?? "All filters together exclude every call of this range."}
    </Blank>
  );
}
