/** The audit log, the newest entry first, each with its difference. */
import type { auditLog } from "../../data/types.ts";
import { useState } from "preact/hooks";
import { knownNames } from "../../data/names.ts";
import { query, setQuery } from "../../data/location.ts";
import { useApi } from "../../data/use-api.ts";
import { diffJson } from "../../parts/diff-lines.ts";
import { Diff } from "../../parts/diff.tsx";
import { Heads } from "../../parts/heads.tsx";
import { LoadMore } from "../../parts/load-more.tsx";
import { Time } from "../../parts/numbers.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Blank, Loaded } from "../../parts/states.tsx";
import { actorName, type AuditEntry, sayEntry, sidesOf } from "./entry-words.ts";

interface LogPage {
  entries: AuditEntry[];
  next?: string;
}

const ROWS = 30;

export function LogPanel() {
  const [limit, setLimit] = useState(ROWS);
  const log = useApi<typeof auditLog>(`/audit/log?limit=${limit}`);
  return (
    <Panel title="Who did what" busy={log.busy}>
      <Loaded of={log} what="The log">
        {({ entries, next }) => (
          <>
            <Log entries={entries} />
            <LoadMore limit={limit} next={next} onLimit={setLimit} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function Log({ entries }: { entries: readonly AuditEntry[] }) {
  if (entries.length === 0)
    return (
      <Blank title="Nothing has been changed yet.">
        Keys, budgets, limits, backups and deletions appear here.
      </Blank>
    );
  return (
    <div class="scroll">
      <table class="tbl wraps log">
        <Heads of={[["Time"], ["Who"], ["What"]]} />
        <tbody>
          {entries.map((entry) => (
            <Entry key={entry.id} entry={entry} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const isOpen = query.value["entry"] === entry.id;
  const [before, after] = sidesOf(entry);
  const hasDiff = before !== undefined || after !== undefined;
  const names = new Map(knownNames()?.keys.map(({ id, name }) => [id, name]));
  const toggle = () => {
    if (hasDiff) setQuery({ entry: isOpen ? undefined : entry.id }, { replace: true });
  };
  return (
    <>
      <tr
        {...(hasDiff && { tabIndex: 0, "aria-selected": isOpen })}
        onClick={toggle}
        onKeyDown={(event) => {
          if (event.key === "Enter" && event.target === event.currentTarget) toggle();
        }}
      >
        <td class="dim">
          <Time at={entry.at} />
        </td>
        <td {...(entry.address !== undefined && { title: `from ${entry.address}` })}>
          {actorName(entry.actor, names)}
        </td>
        <td class="mid">{sayEntry(entry)}</td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={3}>
            <Diff lines={diffJson(before, after)} label="What was changed" />
          </td>
        </tr>
      )}
    </>
  );
}
