/** The newest sessions, with what each cost. */
import { queryOf } from "../../../console/data/api.ts";
import { hrefOf, query } from "../../../console/data/location.ts";
import { rangeOf } from "../../../console/data/range.ts";
import { session } from "../../../console/data/session.ts";
import { useApi } from "../../../console/data/use-api.ts";
import { count, counted, percent, whole } from "../../../console/numbers/counts.ts";
import { Heads } from "../../../console/parts/heads.tsx";
import { Ago, MoneyCell } from "../../../console/parts/numbers.tsx";
import { Panel } from "../../../console/parts/panel.tsx";
import { RangePicker } from "../../../console/parts/range-picker.tsx";
import { Blank, Loaded } from "../../../console/parts/states.tsx";
import { Page } from "../../../console/shell/page.tsx";
import type { listConversations, listFirstWords, SessionRow } from "../contracts.ts";
import { SessionPage } from "./session-page.tsx";

const USUAL_RANGE = "7d";
const HEADS = [
  ["Session"],
  ["Key", "w3"],
  ["Client", "w3"],
  ...[
    ["Turns", "num"],
    ["With tools", "num w3"],
    ["Prompt", "num w3"],
    ["Cached", "num w3"],
  ],
  ...[
    ["Cost", "num"],
    ["Last", "num w3"],
  ],
] as const;

export function SessionsPage({ rest }: { rest: string }) {
  return rest === "" ? <List /> : <SessionPage id={rest} key={rest} />;
}

function List() {
  const { from, to } = rangeOf(query.value, USUAL_RANGE);
  const { key, path } = query.value;
  const search = queryOf({ from, to, key, path });
  const sessions = useApi<typeof listConversations>(`/sessions${search}`);
  const begun = useApi<typeof listFirstWords>(
    session.value?.role === "admin" ? `/session-words${search}` : undefined,
  ).data?.words;
  return (
    <Page title="Sessions" right={<RangePicker usual={USUAL_RANGE} />}>
      <Panel
        label="Sessions"
        busy={sessions.busy}
        foot="Calls that a client names as one conversation, or that begin with the same words. weir keeps a hash."
      >
        <Loaded of={sessions} what="Sessions">
          {({ sessions: all }) =>
            all.length === 0 ? (
              <Blank title="No session in this range.">
                weir notes the session that a client names, or whose provider reports a cache.
              </Blank>
            ) : (
              <div class="scroll">
                <table class="tbl wraps">
                  <Heads of={HEADS} />
                  <tbody>
                    {all.map((one) => (
                      <Row key={one.session} of={one} words={begun?.[one.session]} />
                    ))}
                  </tbody>
                </table>
              </div>
            )
          }
        </Loaded>
      </Panel>
    </Page>
  );
}

function Row({ of: one, words }: { of: SessionRow; words: string | undefined }) {
  const { session: id, key, keyName, client, toolTurns, failed, prompt, cacheRead, lastAt } = one;
  return (
    <tr>
      <td>
        <a class="fig anywhere" href={hrefOf(`/sessions/${id}`)}>
          {words ?? <code>{id}</code>}
        </a>
        {failed > 0 && <span class="c-bad"> {counted(failed, "failed call")}</span>}
      </td>
      <td class="w3">{keyName ?? key ?? "none"}</td>
      <td class="w3 mid">{client}</td>
      <td class="num">{whole(one.count)}</td>
      <td class="num w3">{whole(toolTurns)}</td>
      <td class="num w3">{count(prompt)}</td>
      <td class="num w3">{prompt === 0 ? "–" : percent(cacheRead / prompt)}</td>
      <td class="num">
        <MoneyCell nano={one.cost} unsure={one.uncertain > 0} />
      </td>
      <td class="num w3">
        <Ago at={lastAt} />
      </td>
    </tr>
  );
}
