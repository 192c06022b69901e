/** Calls as they end, the newest on top. They do not move while the operator reads one. */
import { useEffect, useRef } from "preact/hooks";
import { anew } from "../../data/api.ts";
import { FILTERS, filtersOf, noFilters } from "../../data/filters.ts";
import { go, hrefOf, query, setQuery } from "../../data/location.ts";
import type { LiveFeed } from "../../data/live.ts";
import { KEPT } from "../../data/live.ts";
import { whole } from "../../numbers/counts.ts";
import { CallHead, CallRow } from "../../parts/call-row.tsx";
import { Button } from "../../parts/controls.tsx";
import { FilterBar } from "../../parts/filter-bar.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Blank, Bones, Failed } from "../../parts/states.tsx";
import { onKey } from "../../shell/shortcuts.ts";

/** Rows on the screen. */
const SHOWN = 14;
/** From this rate on the head says what is shown. Calls a second. */
const MANY = 20;

export function Ended({ feed }: { feed: LiveFeed }) {
  const rows = feed.rows.value.slice(0, SHOWN);
  const open = (id: string) => go("/calls", { ...filtersOf(query.value), open: id });
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    const look = () => {
      const selected = getSelection();
      const inRows = selected && !selected.isCollapsed && body.current?.contains(selected.anchorNode);
      feed.hold(inRows === true || body.current?.matches(":hover") === true || hasFocus(body.current));
    };
    const events = ["selectionchange", "focusin", "focusout", "pointerover"] as const;
    for (const event of events) document.addEventListener(event, look);
    return () => {
      for (const event of events) document.removeEventListener(event, look);
    };
  }, [feed]);
  const foot = (
    <>
      <span>The last {KEPT} calls are kept in this page. Older ones: Calls.</span>
      <span class="w3">
        <kbd>p</kbd> pause, <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> open
      </span>
    </>
  );
  return (
    <Panel
      title="Just ended"
      right={
        <>
          <Pace feed={feed} />
          <a class="plain mid" href={hrefOf("/calls", filtersOf(query.value))}>
            All calls
          </a>
        </>
      }
      foot={foot}
    >
      <div class="body">
        <FilterBar />
      </div>
      {rows.length > 0 ? (
        <div class="scroll">
          <table class="tbl stackrows">
            <CallHead wide ordered={false} />
            <tbody ref={body}>
              {rows.map((call) => (
                <CallRow key={call.id} call={call} wide fresh={feed.fresh.has(call.id)} onOpen={open} />
              ))}
            </tbody>
          </table>
        </div>
      ) : feed.fault.value ? (
        <Failed what="Calls" error={feed.fault.value} again={() => (anew.value += 1)} />
      ) : feed.filled.value ? (
        <NoRows />
      ) : (
        <Bones />
      )}
    </Panel>
  );
}

const hasFocus = (element: HTMLElement | null) => element?.contains(document.activeElement) === true;

function NoRows() {
  const filters = filtersOf(query.value);
  const last = FILTERS.filter((name) => filters[name] !== undefined).at(-1);
  if (last === undefined) return <Blank title="No call has ended yet.">They appear here as they end.</Blank>;
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
      Calls that match appear here as they end.
    </Blank>
  );
}

/** `1,240 a second, showing 1 in 300` */
function Pace({ feed }: { feed: LiveFeed }) {
  const perSecond = feed.pulse.value?.perSecond ?? 0;
  if (perSecond < MANY) return null;
  const shown = Math.round(feed.thinned.value);
  return (
    <span class="dim nowrap">
      {whole(perSecond)} a second{shown > 1 && `, showing 1 in ${whole(shown)}`}
    </span>
  );
}

/** Whether the stream lives, and the button that stops the rows. */
export function LiveControls({ feed }: { feed: LiveFeed }) {
  useEffect(() => onKey("p", () => feed.pause()), [feed]);
  const paused = feed.paused.value;
  const waiting = feed.waiting.value.length;
  const words = feed.overflowed.value
    ? `Resume, ${KEPT}+ waiting, older ones are in Calls`
    : waiting > 0
      ? `Resume, ${whole(waiting)} waiting`
      : "Resume";
  const live = feed.connected.value;
  return (
    <>
      <span class="mark w3">
        <span class={`live-dot ${paused || !live ? "paused" : ""}`} />
        <span class="mid">{paused ? "paused" : live ? "live" : "connecting"}</span>
      </span>
      <Button icon={paused ? "play" : "pause"} aria-keyshortcuts="p" onClick={() => feed.pause()}>
        {paused ? words : "Pause"}
      </Button>
    </>
  );
}
