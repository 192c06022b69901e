/** A budget: what is left of it, what was spent, and what becomes of it at its pace. */
import { readOnly } from "../../data/session.ts";
import type { QueryChange } from "../../data/location.ts";
import { counted } from "../../numbers/counts.ts";
import { duration } from "../../numbers/durations.ts";
import { dollars } from "../../numbers/money.ts";
import { BudgetBar } from "../../parts/budget-bar.tsx";
import { Button, Figure, Tag } from "../../parts/controls.tsx";
import { Shape } from "../../parts/icons.tsx";
import { Money } from "../../parts/numbers.tsx";
import { now } from "../../data/clock.ts";
import { filterOf, limitDollars, type Prospect, prospectOf, subjectWords } from "./budget-words.ts";
import type { BudgetState } from "./overview.ts";
import { momentWords } from "./moments.ts";

interface Props {
  state: BudgetState;
  nameOfKey: (id: string) => string;
  onRaise: () => void;
}

/** Links lead to it. */
export const cardId = (budget: string) => `budget-${budget}`;

export function BudgetCard({ state, nameOfKey, onRaise }: Props) {
  const { budget, window, level, sessions } = state;
  const { spent, assumed, held, overrun, left } = window;
  const on = subjectWords(budget.on, nameOfKey);
  const calls = { ...filterOf(budget.on, nameOfKey), from: window.startsAt };
  const prospect = prospectOf(budget, window, now.value);
  return (
    <li id={cardId(budget.id)} tabIndex={-1}>
      <div class="budget-name">
        <b class="clip" title={budget.name}>
          {budget.name}
        </b>
        <Tag>{budget.mode}</Tag>
        <span class="dim clip grow" title={on}>
          {on}
        </span>
        <span class="nowrap">
          <b class={level === "full" ? "c-bad" : ""}>
            {left < 0 ? `${dollars(-left)} over` : limitDollars(left)}
          </b>
          <span class="mid">
            {left < 0 ? " " : " left of "}
            {limitDollars(budget.limit)}
          </span>
        </span>
      </div>
      <BudgetBar big {...{ spent, assumed, held, left, level }} limit={budget.limit} alerts={budget.alerts} />
      <div class="key">
        <span>
          <b>
            {sessions === undefined ? (
              <Figure query={calls}>
                <Money nano={spent} />
              </Figure>
            ) : (
              <Money nano={spent} />
            )}
          </b>
          spent
        </span>
        {assumed > 0 && (
          <span>
            <b>
              <Figure
                query={{ ...calls, state: "assumed" }}
                title="Charges whose amount cannot be known; also what was held when a worker ended"
              >
                <Money nano={assumed} unsure />
              </Figure>
            </b>
            assumed
          </span>
        )}
        {held > 0 && (
          <span>
            <b>
              <Money nano={held} />
            </b>
            held
          </span>
        )}
        {overrun > 0 && (
          <span class="c-bad">
            <b>+{dollars(overrun)}</b> beyond what was held
          </span>
        )}
        {sessions !== undefined && <span>the fullest of {counted(sessions, "session")}</span>}
      </div>
      <div class="mid say1">
        <span>
          <ProspectLine prospect={prospect} zone={budget.zone} calls={calls} />
        </span>
        {budget.source === "config" && <span class="dim nowrap">in weir.yaml</span>}
        <Button
          kind="quiet"
          why={readOnly()}
          aria-label={`Raise ${budget.name}`}
          title="Another limit"
          onClick={onRaise}
        >
          Raise…
        </Button>
      </div>
    </li>
  );
}

function ProspectLine({ prospect, zone, calls }: { prospect: Prospect; zone: string; calls: QueryChange }) {
  const when = (at: number) => momentWords(at, zone, now.value);
  const next = "next" in prospect && prospect.next !== undefined && `Next window: ${when(prospect.next)}.`;
  switch (prospect.kind) {
    case "empty":
      return prospect.refuses ? (
        <>
          <Shape state="bad" /> Empty:{" "}
          <Figure query={{ ...calls, refused: "budget" }}>calls are refused</Figure>. {next}
        </>
      ) : (
        <>
          <Shape state="warn" /> Beyond its limit; it refuses no call. {next}
        </>
      );
    case "refuses":
      return (
        <>
          <Shape state="bad" />{" "}
          <Figure query={{ ...calls, from: now.value - DAY, refused: "budget" }}>
            {counted(prospect.calls, "call")}
          </Figure>{" "}
          {prospect.calls === 1 ? "was" : "were"} refused within a day, by it or another. {next}
        </>
      );
    case "runs-out":
      return (
        <>
          <Shape state="warn" /> Empty {atOrOn(when(prospect.at))}, {early(prospect.next - prospect.at)}{" "}
          before the window ends, at this pace.
        </>
      );
    case "lasts":
      return <>Lasts at this pace. {next}</>;
    case "unused":
      return <>Nothing is spent. {next}</>;
    case "endless":
      return <>One window without an end.</>;
  }
}

/** `at 18:20 UTC`, `tomorrow 00:00 UTC`, `on 25 Nov` */
const atOrOn = (moment: string) =>
  `${/^\d\d:/.test(moment) ? "at " : moment.startsWith("tomorrow") ? "" : "on "}${moment}`;

const DAY = 86_400_000;

function early(ms: number): string {
  const days = Math.round(ms / DAY);
  return days >= 2 ? `${days} days` : duration(Math.round(ms / 60_000) * 60_000).replace(/ 00 s$/, "");
}
