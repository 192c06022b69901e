/** One key: what it spent, what it may do, the budgets over it, and what was refused. Beside the tree, and as a page of its own. */
import { now } from "../../data/clock.ts";
import { knownNames } from "../../data/names.ts";
import { readOnly } from "../../data/session.ts";
import type { Key } from "../../data/types.ts";
import { count, counted } from "../../numbers/counts.ts";
import { dollars } from "../../numbers/money.ts";
import { month } from "../../numbers/times.ts";
import { BudgetBar } from "../../parts/budget-bar.tsx";
import { CaptureButton } from "../../parts/capture.tsx";
import { Button, Figure } from "../../parts/controls.tsx";
import { Ago, Money, Time } from "../../parts/numbers.tsx";
import { Facts } from "../../parts/panel.tsx";
import { actorName } from "../store/entry-words.ts";
import { budgetsOver, limitDollars } from "./budget-words.ts";
import { limitsOf, rateWords, scopeWords } from "./key-words.ts";
import type { KeysOverview } from "./overview.ts";
import { Refused } from "./refused.tsx";

interface Props {
  entry: Key;
  overview: KeysOverview;
  onDeed: (deed: KeyDeed) => void;
}

/** The actions on a key, each in a dialog. */
export type KeyDeed = "edit" | "rotate" | "revoke";

export function KeyPanel({ entry, overview, onDeed }: Props) {
  const over = budgetsOver(
    overview.budgets.map((state) => ({ ...state, on: state.budget.on })),
    entry,
  );
  return (
    <div class="detail">
      <section>
        <p class="say">
          <Summary entry={entry} overview={overview} />
        </p>
        <KeyActions {...{ entry, onDeed }} />
      </section>
      <section>
        <h2>The key</h2>
        <Scope entry={entry} overview={overview} />
      </section>
      {entry.kind === "call" && (
        <>
          <section>
            <h2>Budgets that count its calls</h2>
            {over.length === 0 && <p class="mid">None: it may spend without a limit.</p>}
            <div class="stack">
              {over.map(({ budget, window, level }) => (
                <div key={budget.id}>
                  <div class="between">
                    <span>
                      <b>{budget.name}</b> <span class="dim">{budget.mode}</span>
                    </span>
                    <span>
                      <b>{limitDollars(Math.max(0, window.left))}</b> left of {limitDollars(budget.limit)}
                    </span>
                  </div>
                  <BudgetBar {...window} level={level} limit={budget.limit} alerts={budget.alerts} />
                </div>
              ))}
            </div>
          </section>
          <section class="flat">
            <Refused of={entry} />
          </section>
        </>
      )}
    </div>
  );
}

function Summary({ entry, overview }: { entry: Key; overview: KeysOverview }) {
  const sums = overview.byKey.get(entry.id);
  const { state, revokedAt, expiresAt, kind } = entry;
  if (kind !== "call")
    return (
      <>
        {kind === "admin" ? "Changes" : "Reads"} what lies on <b>{entry.path}</b>; it makes no calls.
      </>
    );
  const name = month(now.value);
  return (
    <>
      {state === "revoked" && (
        <>
          <span class="c-bad">Revoked</span>
          {revokedAt !== undefined && (
            <>
              {" "}
              <Ago at={revokedAt} />
            </>
          )}
          .{" "}
        </>
      )}
      {state === "expired" && expiresAt !== undefined && (
        <>
          <span class="c-bad">Expired</span> <Ago at={expiresAt} />.{" "}
        </>
      )}
      {sums === undefined || sums.calls === 0 ? (
        `No call in ${name}.`
      ) : (
        <>
          Spent{" "}
          <Figure query={{ key: entry.name, range: "month" }}>
            <Money nano={sums.cost} />
          </Figure>{" "}
          in {name}, with {counted(sums.calls, "call")}
          {sums.refused > 0 && (
            <>
              , of which{" "}
              <Figure query={{ key: entry.name, refused: "any", range: "month" }}>
                <span class="c-warn">{count(sums.refused)} were refused</span>
              </Figure>
            </>
          )}
          .
        </>
      )}
    </>
  );
}

function KeyActions({ entry, onDeed }: Omit<Props, "overview">) {
  const capture = entry.kind === "call" && entry.state !== "revoked" && (
    <CaptureButton kind="key" what={entry.id} />
  );
  if (entry.source === "config")
    return (
      <>
        <p class="mid">This key stands in the configuration file. Change it there and reload.</p>
        {capture && <div class="acts">{capture}</div>}
      </>
    );
  const why = readOnly() ?? (entry.state === "revoked" ? "The key is revoked." : undefined);
  return (
    <div class="acts">
      <Button why={why} onClick={() => onDeed("edit")}>
        Edit…
      </Button>
      <Button why={why} onClick={() => onDeed("rotate")}>
        Rotate…
      </Button>
      <Button kind="danger" why={why} onClick={() => onDeed("revoke")}>
        Revoke…
      </Button>
      {capture}
    </div>
  );
}

function Scope({ entry, overview }: { entry: Key; overview: KeysOverview }) {
  const limits = limitsOf(overview.rates, entry.id);
  const words = scopeWords(entry);
  return (
    <Facts
      rows={[
        entry.kind === "call" ? ["scopes", sentenceOf(words)] : undefined,
        entry.kind === "call"
          ? ["rate", limits ? rateWords(limits, count) : "no limit of its own"]
          : undefined,
        ["path", <code>{entry.path}</code>],
        entry.tags.length > 0 ? ["tags", entry.tags.join(", ")] : undefined,
        entry.hint === undefined ? undefined : ["key", <code>{entry.hint}</code>],
        ["id", <code>{entry.id}</code>],
        ["last used", <Ago at={entry.lastUsedAt} />],
        entry.rotatingUntil === undefined
          ? undefined
          : [
              "old text",
              <>
                works until <Time at={entry.rotatingUntil} />
              </>,
            ],
        ["ends", entry.expiresAt === undefined ? "never" : <Time at={entry.expiresAt} />],
        entry.createdAt === undefined ? undefined : ["made", <MadeBy entry={entry} />],
      ]}
    />
  );
}

function MadeBy({ entry }: { entry: Key }) {
  const names = new Map(knownNames()?.keys.map(({ id, name }) => [id, name]));
  return (
    <>
      <Time at={entry.createdAt!} />
      {entry.createdBy !== undefined && ` by ${actorName(entry.createdBy, names)}`}
    </>
  );
}

/** Clauses as one sentence with commas, which begins with a capital letter. */
function sentenceOf(words: readonly string[]): string {
  const text = words.join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
