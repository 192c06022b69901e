/** Guards: what they did, which calls they blocked, what weir could not read, and a field to try a text. */
import { useState } from "preact/hooks";
import { queryOf } from "../../../console/data/api.ts";
import { hrefOf, query } from "../../../console/data/location.ts";
import { rangeOf } from "../../../console/data/range.ts";
import { useApi } from "../../../console/data/use-api.ts";
import { usePost } from "../../../console/data/use-post.ts";
import { count, counted } from "../../../console/numbers/counts.ts";
import { Tag } from "../../../console/parts/controls.tsx";
import { Heads } from "../../../console/parts/heads.tsx";
import { Mark } from "../../../console/parts/icons.tsx";
import { Time } from "../../../console/parts/numbers.tsx";
import { Panel } from "../../../console/parts/panel.tsx";
import { RangePicker } from "../../../console/parts/range-picker.tsx";
import { Spark } from "../../../console/parts/spark.tsx";
import { Blank, Loaded } from "../../../console/parts/states.tsx";
import { Page } from "../../../console/shell/page.tsx";
import type { GuardsView, listGuards, TriedText } from "../watch/contracts.ts";
import { type GuardRow, rowsOf, unreadOf } from "./sums.ts";

const EVERY = 10_000;
/** A text is tried when the operator has not typed for this time. Milliseconds. */
const WAIT = 400;
const EXAMPLE = `guards:
  pii: { find: [email, card, iban], do: replace }`;
const HEADS = [
  ...([["Guard"], ["State"], ["Verdicts", "num w3"], ["Found", "num"], ["?Over time", "w3"]] as const),
  ...([
    ["Blocked", "num"],
    ["No verdict", "num w3"],
  ] as const),
];

export function GuardsPage() {
  const { from, to } = rangeOf(query.value);
  const view = useApi<typeof listGuards>(`/guards${queryOf({ from, to })}`, { every: EVERY });
  return (
    <Page title="Guards" right={<RangePicker />}>
      <Panel title="Verdicts" busy={view.busy} foot="Requests and answers, by whole hours.">
        <Loaded of={view} what="Guards">
          {(data) => <Verdicts of={rowsOf(data, from, to ?? Date.now())} />}
        </Loaded>
      </Panel>
      <Try />
      <Panel title="Blocked" busy={view.busy}>
        <Loaded of={view} what="Blocked calls" rows={3}>
          {({ blocked }) => <Blocked of={blocked} />}
        </Loaded>
      </Panel>
      <Panel title="Not inspected" busy={view.busy}>
        <Loaded of={view} what="What was not inspected" rows={2}>
          {(data) => <Unread of={unreadOf(data)} />}
        </Loaded>
      </Panel>
    </Page>
  );
}

function Verdicts({ of: rows }: { of: readonly GuardRow[] }) {
  if (rows.length === 0)
    return (
      <Blank
        title="No guard."
        acts={
          <pre class="code" tabIndex={0}>
            {EXAMPLE}
          </pre>
        }
      >
        The configuration names them; then run weir reload.
      </Blank>
    );
  return (
    <div class="scroll">
      <table class="tbl wraps">
        <Heads of={HEADS} />
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <td>
                <b>{row.name}</b> {row.does !== "" && <Tag>{row.does}</Tag>}
                <div class="dim">
                  {row.finds.join(", ")}
                  {row.narrowed && " · for some keys or models"}
                </div>
              </td>
              <td>
                <Mark state={row.state}>{row.word}</Mark>
              </td>
              <td class="num w3">{count(row.all)}</td>
              <td class="num">{count(row.found)}</td>
              <td class="w3">
                <Spark values={row.slots} bad={row.blocked > 0} />
              </td>
              <td class={`num ${row.blocked > 0 ? "c-bad" : ""}`}>{count(row.blocked)}</td>
              <td class={`num w3 ${row.unavailable > 0 ? "c-bad" : ""}`}>{count(row.unavailable)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Try() {
  const [text, setText] = useState("");
  const tried = usePost<TriedText>("/guards/try", text === "" ? undefined : { text }, { wait: WAIT });
  return (
    <Panel title="Try a text" busy={tried.busy} foot="weir neither keeps nor logs it, and asks no service.">
      <div class="body">
        <textarea
          class="textarea"
          rows={3}
          aria-label="Text to try"
          placeholder="Write to anna@example.com"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {text !== "" && (
          <Loaded of={tried} what="The text" rows={2}>
            {(data) => <Result of={data} />}
          </Loaded>
        )}
      </div>
    </Panel>
  );
}

function Result({ of: { guards, text } }: { of: TriedText }) {
  return (
    <div role="status">
      {guards.map(({ guard, does, asks, findings }) => (
        <p key={guard}>
          <b>{guard}</b>{" "}
          {findings.length === 0 ? (
            <span class="dim">finds nothing{asks && " by itself; its service was not asked"}</span>
          ) : (
            `finds ${kindsOf(findings)}: ${does}`
          )}
        </p>
      ))}
      {text === undefined ? (
        <Mark state="bad">blocked: nothing goes on</Mark>
      ) : (
        <pre class="code" tabIndex={0} aria-label="As it goes on">
          {text}
        </pre>
      )}
    </div>
  );
}

/** `2 EMAIL, 1 CARD` */
function kindsOf(findings: TriedText["guards"][number]["findings"]): string {
  const kinds = Map.groupBy(findings, ({ kind, rule }) => (rule === undefined ? kind : `${kind} (${rule})`));
  return [...kinds].map(([kind, all]) => `${all.length} ${kind}`).join(", ");
}

function Blocked({ of: rows }: { of: GuardsView["blocked"] }) {
  if (rows.length === 0) return <Blank title="No call was blocked in this time." />;
  return (
    <div class="scroll">
      <table class="tbl wraps">
        <Heads of={[["Call"], ["Guard"], ["Place"], ["Kind"]]} />
        <tbody>
          {rows.map(({ id, at, guard, phase, place, kinds }) => (
            <tr key={id}>
              <td>
                <a class="fig nowrap" href={hrefOf(`/calls/${id}`)}>
                  <Time at={at} />
                </a>
              </td>
              <td>{guard}</td>
              <td>
                <span class="dim">{phase}</span> {place}
              </td>
              <td class="nowrap">{kinds}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Unread({ of: rows }: { of: ReturnType<typeof unreadOf> }) {
  if (rows.length === 0) return <Blank title="Guards could read everything in this time." />;
  return (
    <table class="tbl wraps">
      <Heads of={[["Kind"], ["Texts", "num"], ["In front of"]]} />
      <tbody>
        {rows.map(({ kind, texts, guards }) => (
          <tr key={kind}>
            <td>{kind}</td>
            <td class="num" title={counted(texts, "text")}>
              {count(texts)}
            </td>
            <td class="dim">{guards.join(", ")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
