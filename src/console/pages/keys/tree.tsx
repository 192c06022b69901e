/** The keys as one tree by path: what each path and each key has spent this month, under which budget, and when it was used. */
import { useState } from "preact/hooks";
import { hrefOf, query, setQuery } from "../../data/location.ts";
import { now } from "../../data/clock.ts";
import { readOnly } from "../../data/session.ts";
import { count, whole } from "../../numbers/counts.ts";
import { month } from "../../numbers/times.ts";
import { BudgetBar } from "../../parts/budget-bar.tsx";
import { Button, Tag } from "../../parts/controls.tsx";
import { Ago, MoneyCell } from "../../parts/numbers.tsx";
import { SortHead, sortedBy } from "../../parts/sort.tsx";
import { limitsOf, mayUse, rateWords, spentBelow, tagsOf, treeOf } from "./key-words.ts";
import type { BudgetState, KeysOverview } from "./overview.ts";
import type { Key } from "../../data/types.ts";

interface Props {
  overview: KeysOverview;
  onNew: (path: string) => void;
}

export function KeyTree({ overview, onNew }: Props) {
  const { keys, budgets, byPath } = overview;
  const [most, setMost] = useState(ROWS);
  const spent = new Map([...byPath].map(([path, { cost }]) => [path, cost]));
  const tree = treeOf(
    keys,
    budgets.map(({ budget }) => budget),
  );
  const sorted = sortedBy(keys, {
    spent: ({ id }) => overview.byKey.get(id)?.cost,
    used: ({ lastUsedAt }) => lastUsedAt,
  });
  // In the order of a figure keys stand alone: a path would not be above its own.
  const rows = sorted === keys ? tree : sorted.map((key) => ({ kind: "key" as const, key, depth: 0 }));
  const budgetOn = (kind: string, what: string) =>
    budgets.find(({ budget: { on } }) => on.kind === kind && on.what === what);
  return (
    <div class="scroll">
      <table class="tbl tree">
        <thead>
          <tr>
            <th scope="col">Path and key</th>
            <th scope="col" class="w3">
              <span class="vh">Beginning and end of the key</span>
            </th>
            <th scope="col" class="w3 w2">
              May use
            </th>
            <SortHead by="spent" look="num">
              {month(now.value)}
            </SortHead>
            <th scope="col" class="w3">
              Budget
            </th>
            <th scope="col" class="num w3 w2">
              Rate
            </th>
            <SortHead by="used" look="num">
              Last used
            </SortHead>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row) =>
            row.kind === "path" ? (
              <tr class="path" key={`path ${row.path}`}>
                <td class="p-name">
                  <span class={`d${Math.min(4, row.depth)} clip`} title={row.path}>
                    {row.path}
                  </span>
                </td>
                <td class="w3" />
                <td class="w3 w2" />
                <td class="num">
                  <Spent nano={spentBelow(spent, row.path)} filter={{ path: row.path }} />
                </td>
                <td class="budget w3">
                  <OwnBudget state={budgetOn("path", row.path)} none="no budget of its own" />
                </td>
                <td class="w3 w2" />
                <td class="num">
                  <Button
                    kind="quiet"
                    class="w3 onrow"
                    why={readOnly()}
                    aria-label={`New key on ${row.path}`}
                    onClick={() => onNew(row.path)}
                  >
                    New key
                  </Button>
                </td>
              </tr>
            ) : (
              <KeyRow
                key={row.key.id}
                entry={row.key as Key}
                depth={row.depth}
                overview={overview}
                state={budgetOn("key", row.key.id)}
              />
            ),
          )}
        </tbody>
      </table>
      {rows.length > most && (
        <div class="more">
          <Button onClick={() => setMost(most * 2)}>Show more</Button>
          {whole(rows.length - most)} more rows
        </div>
      )}
    </div>
  );
}

/** Rows at first. */
const ROWS = 300;

interface RowProps {
  entry: Key;
  depth: number;
  overview: KeysOverview;
  state: BudgetState | undefined;
}

function KeyRow({ entry, depth, overview, state }: RowProps) {
  const open = () => setQuery({ open: entry.id });
  const limits = limitsOf(overview.rates, entry.id);
  return (
    <tr
      tabIndex={0}
      aria-selected={query.value["open"] === entry.id || query.value["open"] === entry.name}
      data-id={entry.id}
      onClick={(event) => !(event.target instanceof Element && event.target.closest("a, button")) && open()}
      onKeyDown={(event) => event.key === "Enter" && event.target === event.currentTarget && open()}
    >
      <td class="p-name">
        <span class={`d${Math.min(4, depth)} key-name`}>
          <span class={`clip ${entry.state === "active" ? "" : "dim"}`} title={entry.name}>
            {entry.name}
          </span>
          <KeyTags entry={entry} />
        </span>
      </td>
      <td class="dim w3">{entry.hint !== undefined && <code>{entry.hint}</code>}</td>
      <td class="mid w3 w2 may-use" title={mayUse(entry.scopes)}>
        {entry.kind === "call"
          ? mayUse(entry.scopes)
          : entry.kind === "admin"
            ? "changes this console's entries"
            : "reads only"}
      </td>
      <td class="num">
        {entry.kind === "call" ? (
          <Spent nano={overview.byKey.get(entry.id)?.cost ?? 0} filter={{ key: entry.name }} />
        ) : (
          <span class="dim">–</span>
        )}
      </td>
      <td class="budget w3">
        <OwnBudget state={state} none="–" />
      </td>
      <td class="num mid w3 w2">{limits ? rateWords(limits, count) : <span class="dim">–</span>}</td>
      <td class="num dim">
        <Ago at={entry.lastUsedAt} />
      </td>
    </tr>
  );
}

export function KeyTags({ entry }: { entry: Key }) {
  return (
    <>
      {tagsOf(entry, now.value).map(({ word, tone }) => (
        <Tag key={word} look={tone}>
          {word}
        </Tag>
      ))}
    </>
  );
}

function Spent({ nano, filter }: { nano: number; filter: Record<string, string> }) {
  if (nano === 0) return <MoneyCell nano={0} fraction={6} />;
  return (
    <a
      class="fig"
      href={hrefOf("/calls", { ...filter, range: "month" })}
      title="Open the calls this is made of"
    >
      <MoneyCell nano={nano} fraction={6} />
    </a>
  );
}

function OwnBudget({ state, none }: { state: BudgetState | undefined; none: string }) {
  if (!state) return <span class="dim">{none}</span>;
  const { budget, window, level } = state;
  const { spent, assumed, held, left } = window;
  return <BudgetBar {...{ spent, assumed, held, left, level }} limit={budget.limit} alerts={budget.alerts} />;
}
