/** The conversations that lost most; one opens as a line of its calls. */
import type { cacheSessions, CacheSessions } from "../../data/types.ts";
import { queryOf, type QueryValue } from "../../data/api.ts";
import { query, setQuery } from "../../data/location.ts";
import { useApi } from "../../data/use-api.ts";
import { count, counted } from "../../numbers/counts.ts";
import { type Head, Heads } from "../../parts/heads.tsx";
import { MoneyCell, Time } from "../../parts/numbers.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Blank, Loaded } from "../../parts/states.tsx";
import { CauseWords } from "./cause.tsx";
import { Conversation } from "./conversation.tsx";

const ROWS = 30;

const HEADS: readonly Head[] = [
  ["Last"],
  ["Key"],
  ["Client", "w3"],
  ["Conversation", "w2"],
  ["Breaks", "num w3"],
  ["Not read", "num w3"],
  ["Mostly because", "w3"],
  ["Lost", "num"],
];

export function SessionsPanel({ filters }: { filters: Readonly<Record<string, QueryValue>> }) {
  const reading = useApi<typeof cacheSessions>(`/cache/sessions${queryOf({ limit: ROWS, ...filters })}`);
  const since = reading.data?.reasonsFrom;
  return (
    <Panel
      title="Conversations that lost most"
      busy={reading.busy}
      right={
        since === undefined ? undefined : (
          <span class="dim">
            of the newest 50,000 breaks, since <Time at={since} />
          </span>
        )
      }
      foot="Of a prompt weir keeps only hashes of its sections, for 30 days. No text is kept."
    >
      <Loaded of={reading} what="Conversations" rows={4}>
        {({ sessions }) =>
          sessions.length === 0 ? (
            <Blank title="No conversation lost anything.">
              Each prompt was read from the cache as far as it had been there before.
            </Blank>
          ) : (
            <div class="scroll">
              <table class="tbl compact">
                <Heads of={HEADS} />
                <tbody>
                  {sessions.map((session) => (
                    <Row key={session.session} session={session} />
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}

function Row({ session: row }: { session: CacheSessions["sessions"][number] }) {
  const { session, key, keyName, path, client, lastAt, breaks, lost, lostCost, commonest } = row;
  const isOpen = query.value["open"] === session;
  const toggle = () => setQuery({ open: isOpen ? undefined : session }, { replace: true });
  return (
    <>
      <tr
        tabIndex={0}
        aria-selected={isOpen}
        onClick={toggle}
        onKeyDown={(event) => {
          if (event.key === "Enter" && event.target === event.currentTarget) toggle();
        }}
      >
        <td class="dim">
          <Time at={lastAt} />
        </td>
        <td class="clip-cell" title={path}>
          {keyName ?? key ?? <span class="dim">without a key</span>}
          {commonest && (
            <div class="dim narrow-only">
              <CauseWords cause={commonest} />
            </div>
          )}
        </td>
        <td class="w3 mid clip-cell">{client}</td>
        <td class="w2">
          <code>{session.slice(0, 8)}</code>
        </td>
        <td class="num w3">{breaks}</td>
        <td class="num w3" title={counted(lost, "token")}>
          {count(lost)}
        </td>
        <td class="w3 mid">{commonest && <CauseWords cause={commonest} />}</td>
        <td class="num">
          <MoneyCell nano={lostCost} />
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td class="opened" colSpan={8}>
            <Conversation id={session} cause={commonest} />
          </td>
        </tr>
      )}
    </>
  );
}
