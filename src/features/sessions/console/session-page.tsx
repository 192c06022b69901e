/** One session from top to bottom: what each turn added, and what it cost. */
import { hrefOf } from "../../../console/data/location.ts";
import { session as signedIn } from "../../../console/data/session.ts";
import { useApi } from "../../../console/data/use-api.ts";
import { count, counted, percent, whole } from "../../../console/numbers/counts.ts";
import { duration } from "../../../console/numbers/durations.ts";
import { dollars } from "../../../console/numbers/money.ts";
import { CaptureButton } from "../../../console/parts/capture.tsx";
import { Figure, Tag } from "../../../console/parts/controls.tsx";
import { Shape } from "../../../console/parts/icons.tsx";
import { Money, Time } from "../../../console/parts/numbers.tsx";
import { Facts, Panel } from "../../../console/parts/panel.tsx";
import { PictureButtons } from "../../../console/parts/picture-buttons.tsx";
import { Loaded } from "../../../console/parts/states.tsx";
import { Said } from "../../../console/parts/talk.tsx";
import { Page } from "../../../console/shell/page.tsx";
import type {
  getConversation,
  getConversationTalk,
  SessionEntry,
  SessionTurn,
  TurnTalk,
} from "../contracts.ts";

export function SessionPage({ id }: { id: string }) {
  const at = `/sessions/${encodeURIComponent(id)}` as const;
  const reading = useApi<typeof getConversation>(at);
  const mayRead = signedIn.value?.role === "admin";
  const isKept = reading.data?.turns.some(({ captured }) => captured) === true;
  const talk = useApi<typeof getConversationTalk>(mayRead && isKept ? `${at}/talk` : undefined);
  const said = new Map(talk.data?.turns.map((turn) => [turn.id, turn]));
  const crumbs = (
    <h1 class="crumbs">
      <a href={hrefOf("/sessions")}>Sessions</a> / {id}
    </h1>
  );
  return (
    <Page
      title={`Session ${id}`}
      crumbs={crumbs}
      right={
        <>
          {reading.data && <CaptureButton kind="session" what={id} />}
          <PictureButtons name={`Session ${id}`} />
        </>
      }
    >
      <Loaded of={reading} what="The session">
        {(session) => (
          <>
            <Total session={session} />
            {talk.error && (
              <p class="c-bad" role="alert">
                What was said could not be read: {talk.error.message}
              </p>
            )}
            {isKept && !mayRead && <p class="mid">This key sees counts, not what was said.</p>}
            <ol class="session">
              {session.turns.map((turn, n) => (
                <Turn
                  key={turn.id}
                  turn={turn}
                  n={session.count - session.turns.length + n + 1}
                  said={said.get(turn.id)}
                />
              ))}
            </ol>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Total({ session }: { session: SessionEntry }) {
  const { session: id, count: calls, turns, cost, uncertain, unpriced, prompt, cacheRead, failed } = session;
  const { key, keyName, path, firstAt, lastAt, toolTurns, output, summed } = session;
  return (
    <Panel label="Total">
      <div class="body">
        <Facts
          rows={[
            [
              "Cost",
              <>
                <b>
                  <Money nano={cost} unsure={uncertain > 0} />
                </b>
                {unpriced > 0 && `, and ${counted(unpriced, "call")} without a price`}
                {summed < calls && `, of ${whole(summed)} calls`}
              </>,
            ],
            [
              "Turns",
              <>
                <Figure query={{ session: id, from: firstAt }}>{counted(calls, "call")}</Figure>
                {toolTurns > 0 && `, ${whole(toolTurns)} ended with calls of tools`}
                {failed > 0 && <span class="c-bad">, {whole(failed)} failed</span>}
                {turns.length < calls && `; the newest ${whole(turns.length)} below`}
              </>,
            ],
            [
              "Tokens",
              `${count(prompt)} in${prompt > 0 ? `, ${percent(cacheRead / prompt)} from a cache` : ""}, ${count(output)} out`,
            ],
            ["Key", key === undefined ? "none" : <Figure query={{ key }}>{keyName ?? key}</Figure>],
            ["Path", path],
            [
              "Time",
              <>
                <Time at={firstAt} /> to <Time at={lastAt} />
              </>,
            ],
          ]}
        />
      </div>
    </Panel>
  );
}

function Turn({ turn, n, said }: { turn: SessionTurn; n: number; said: TurnTalk | undefined }) {
  const { id, startedAt, ms, model, provider, prompt, cacheRead, output, cost, state, cacheBreak } = turn;
  return (
    <li class="panel" aria-label={`Turn ${n}`}>
      <header>
        <a class="fig" href={hrefOf(`/calls/${id}`)} title="Open the call">
          {n} · <Time at={startedAt} />
        </a>
        <span class="mid">
          {model}
          {provider !== undefined && ` at ${provider}`}
        </span>
        {turn.outcome !== "complete" && (
          <Tag look={turn.outcome === "failed" ? "bad" : "warn"}>
            {turn.outcome} {turn.status}
          </Tag>
        )}
        <span class="right">
          {duration(ms)} · {count(prompt)} in
          {prompt > 0 && `, ${percent(cacheRead / prompt)} cached`} · {count(output)} out ·{" "}
          <Money nano={cost} {...(state !== undefined && { state: state as "metered" })} />
        </span>
      </header>
      {cacheBreak && (
        <p class="mark c-warn wrap">
          <Shape state="warn" />
          <span>
            Cache {cacheBreak.reason}
            {cacheBreak.section !== undefined && (
              <>
                {" "}
                at <code>{cacheBreak.section}</code>
              </>
            )}
            : {counted(cacheBreak.tokens, "token")} not read, for <b>{dollars(cacheBreak.cost)}</b> more.
          </span>
        </p>
      )}
      {said?.anew && <p class="dim">Another conversation, or one that was changed.</p>}
      {said && <Said turns={said.added} answer={said.answer} />}
    </li>
  );
}
