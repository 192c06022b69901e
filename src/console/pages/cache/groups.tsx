/** Read share, breaks and their cost by key, client, model, provider, path or day. */
import { hrefOf, query, type QueryChange, setQuery } from "../../data/location.ts";
import type { CacheReport, CacheRow } from "../../data/types.ts";
import { counted, percent, whole } from "../../numbers/counts.ts";
import { day, utc } from "../../numbers/times.ts";
import { Segments } from "../../parts/controls.tsx";
import { type Head, Heads } from "../../parts/heads.tsx";
import { MoneyCell } from "../../parts/numbers.tsx";
import { Panel, ShareBar } from "../../parts/panel.tsx";
import { CauseWords } from "./cause.tsx";
import { readShare } from "./reasons.ts";

const GROUPS = [
  ["key", "Key"],
  ["client", "Client"],
  ["model", "Model"],
  ["provider", "Provider"],
  ["path", "Path"],
  ["day", "Day"],
] as const;
export type Group = (typeof GROUPS)[number][0];

export function isGroup(text: string | undefined): text is Group {
  return GROUPS.some(([name]) => name === text);
}

/** The name of a row. */
export function nameOf({ group, keyName }: CacheRow, by: Group): string {
  const value = group[by] ?? "";
  if (by === "day") return dayName(value);
  return (by === "key" ? keyName : undefined) ?? (value === "" ? `no ${by}` : value);
}

function dayName(text: string): string {
  const at = Date.parse(text);
  return Number.isNaN(at) ? text : day(at);
}

/** Behind the group. */
const HEADS: readonly Head[] = [
  ["Read", "num"],
  ["?Share", "w2"],
  ["Calls", "num w3"],
  ["Broken", "num w3"],
  ["Mostly because", "w3"],
  ["Saved", "num w3"],
  ["Lost", "num"],
];

interface GroupsProps {
  report: CacheReport;
  by: Group;
  range: { from: number; to: number | undefined };
  busy: boolean;
}

export function GroupsPanel({ report, by, range, busy }: GroupsProps) {
  const { rows, from, reasonsFrom } = report;
  return (
    <Panel
      label="By group"
      title={
        <Segments
          label="Group by"
          options={GROUPS}
          value={by}
          onChoose={(next) => setQuery({ by: next === "key" ? undefined : next }, { replace: true })}
        />
      }
      busy={busy}
      foot={
        <>
          <span>Saved: against the price of fresh input, less what writing cost.</span>
          {from !== undefined && <span>Whole days, from {utc(from).slice(0, 10)} UTC.</span>}
          {reasonsFrom !== undefined && <span>Reasons from {utc(reasonsFrom)} on.</span>}
        </>
      }
    >
      <div class="scroll">
        <table class="tbl compact">
          <Heads of={[[GROUPS.find(([name]) => name === by)![1]], ...HEADS]} />
          <tbody>
            {rows.map((row) => (
              <Row key={row.group[by]} row={row} by={by} range={range} />
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Row({ row, by, range }: { row: CacheRow; by: Group; range: GroupsProps["range"] }) {
  const { calls, breaks, commonest, saved, lostCost } = row;
  const share = readShare(row);
  const name = nameOf(row, by);
  return (
    <tr>
      <td class="clip-cell" title={name}>
        <Narrow row={row} by={by} name={name} />
        {commonest && (
          <div class="dim narrow-only">
            <CauseWords cause={commonest} />
          </div>
        )}
      </td>
      <td class="num">{percent(share)}</td>
      <td class="w2">
        <ShareBar share={share ?? 0} />
      </td>
      <td class="num w3">
        <a class="fig" href={hrefOf("/calls", { ...callsOf(row, by), ...spanOf(row, by, range) })}>
          {whole(calls)}
        </a>
      </td>
      <td class="num w3">{breaks === 0 ? <span class="dim">0</span> : whole(breaks)}</td>
      <td class="w3 mid" {...(commonest && { title: counted(commonest.breaks, "call") })}>
        {commonest && <CauseWords cause={commonest} />}
      </td>
      <td class="num w3">
        <MoneyCell nano={saved} />
      </td>
      <td class="num">
        <MoneyCell nano={lostCost} />
      </td>
    </tr>
  );
}

/** The name; it narrows the page where the reports have such a filter. */
function Narrow({ row, by, name }: { row: CacheRow; by: Group; name: string }) {
  if (by === "client" || by === "day" || (row.group[by] ?? "") === "") return <>{name}</>;
  return (
    <a
      class="fig"
      href={hrefOf("/cache", {
        ...query.value,
        ...callsOf(row, by),
        by: by === "model" ? undefined : "model",
      })}
      title={`Only ${name}`}
    >
      {name}
    </a>
  );
}

/** The filter of a row, with the names that filters have. */
function callsOf(row: CacheRow, by: Group): QueryChange {
  const value = row.group[by];
  if (by === "day" || value === "") return {};
  return { [by]: by === "key" ? (row.keyName ?? value) : value };
}

const DAY = 86_400_000;

function spanOf(row: CacheRow, by: Group, range: GroupsProps["range"]): QueryChange {
  const begin = by === "day" ? Date.parse(row.group["day"] ?? "") : NaN;
  return Number.isNaN(begin) ? range : { from: begin, to: begin + DAY };
}
