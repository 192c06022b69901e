/** A call: the sentence, time, money, what could not be carried over, names and headers. */
import type { ComponentChildren } from "preact";
import type { CallEntry, getCallMoney } from "../../data/types.ts";
import { ApiError } from "../../data/api.ts";
import { placeOf, servedBy, targetOf } from "../../data/call-facts.ts";
import { now } from "../../data/clock.ts";
import { hrefOf } from "../../data/location.ts";
import { session } from "../../data/session.ts";
import { useApi } from "../../data/use-api.ts";
import { counted } from "../../numbers/counts.ts";
import { ago, moment } from "../../numbers/times.ts";
import { Button, copy, Figure, Tag } from "../../parts/controls.tsx";
import { toast } from "../../parts/toasts.tsx";
import { Money, Time } from "../../parts/numbers.tsx";
import { Facts } from "../../parts/panel.tsx";
import * as ownPages from "../../own-pages.ts";
import type { OwnPage } from "../../shell/own-page.ts";
import { CauseWords } from "../cache/cause.tsx";
import { Bodies } from "./bodies.tsx";
import { curlOf, isConversation, keptCurl } from "./curl.ts";
import { CallLedger } from "./money.tsx";
import { Sentence } from "./sentence.tsx";
import { Waterfall } from "./waterfall.tsx";

export function CallDetail({ call, wide }: { call: CallEntry; wide: boolean }) {
  const money = useApi<typeof getCallMoney>(
    call.attempts.length > 0 ? `/calls/${encodeURIComponent(call.id)}/money` : undefined,
  );
  const losses = call.losses ?? [];
  return (
    <div class={`detail ${wide ? "wide" : ""}`}>
      <section>
        <Sentence call={call} />
        <div class="acts">
          <OwnDeeds call={call} />
          {isConversation(call) && (
            <a class="btn" href={hrefOf("/playground", { model: call.model, format: call.format })}>
              Explain again
            </a>
          )}
          <Button onClick={() => void copyCurl(call)}>Copy as curl</Button>
        </div>
      </section>
      <section>
        <h2>Time</h2>
        <Waterfall call={call} />
      </section>
      <section>
        <h2>Money</h2>
        <CallLedger call={call} money={money} />
      </section>
      {call.cacheBreak && (
        <section>
          <h2>Cache</h2>
          <p>
            <CauseWords cause={call.cacheBreak} />: {counted(call.cacheBreak.tokens, "token")} that the cache
            had were not read, for <Money nano={call.cacheBreak.cost} /> more.
          </p>
        </section>
      )}
      {losses.length > 0 && (
        <section>
          <h2>Not carried over as it was ({losses.length})</h2>
          <table class="ledger losses">
            <tbody>
              {losses.map(({ code, path, note }, at) => (
                <tr key={at}>
                  <td>
                    <Tag look={code === "dropped" ? "warn" : ""}>{code}</Tag>
                  </td>
                  <td>
                    <code>{path}</code>
                  </td>
                  <td class="mid">{note}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <section class="two">
        <div>
          <h2>Call</h2>
          <Names call={call} />
        </div>
        <div>
          <h2>Sent back</h2>
          <Headers call={call} />
        </div>
      </section>
      <section>
        <h2>Bodies</h2>
        <Bodies call={call} />
      </section>
    </div>
  );
}

/** With the kept body, for those who may read it. */
async function copyCurl(call: CallEntry & { captured?: true }): Promise<void> {
  const { gateway, role } = session.value ?? {};
  if (!call.captured || role !== "admin") return void copy(curlOf(call, gateway), "Request");
  try {
    const { command, note } = await keptCurl(call, gateway);
    await copy(command, note === undefined ? "Request" : `Request ${note},`);
  } catch (cause) {
    toast(cause instanceof ApiError ? cause.message : String(cause));
  }
}

/** What pages of features do with a call. */
function OwnDeeds({ call }: { call: CallEntry }) {
  return Object.values<OwnPage>(ownPages).flatMap(({ path, ofCall }) =>
    (ofCall?.(call) ?? []).map(({ name, rest, why }) =>
      why === undefined ? (
        <a class="btn" href={hrefOf(`${path}/${rest}`)} key={name}>
          {name}
        </a>
      ) : (
        <Button why={why} key={name}>
          {name}
        </Button>
      ),
    ),
  );
}

function Names({ call }: { call: CallEntry }) {
  const {
    key,
    keyName,
    path,
    tags = [],
    client,
    format,
    lane,
    session: hash,
    finish,
    facts = [],
    startedAt,
  } = call;
  const target = targetOf(call);
  const served = servedBy(call);
  return (
    <Facts
      rows={[
        ["Asked for", <Figure query={{ asked: call.model }}>{call.model}</Figure>],
        target === undefined || !served
          ? ["Became", "nothing: it reached no provider"]
          : [
              "Became",
              <>
                {<Figure query={{ model: served.model }}>{target}</Figure>} at {placeOf(served)}
              </>,
            ],
        key === undefined ? ["Key", "none"] : ["Key", <Figure query={{ key }}>{keyName ?? key}</Figure>],
        row("Path", path, { path }),
        tags.length === 0
          ? undefined
          : [
              "Tags",
              tags.map((tag) => (
                <Figure key={tag} query={{ tag }}>
                  {tag}{" "}
                </Figure>
              )),
            ],
        row("Client", client, { client }),
        [
          "Format",
          `${format}${lane === undefined ? "" : `, ${lane} lane`}${call.stream ? ", streamed" : ""}`,
        ],
        row("Session", hash, { session: hash }),
        row("Ended", finish),
        ...facts.map(({ name, label, text, find }) =>
          find ? row(label, text, { fact: `${name}:${find}` }) : row(label, <code>{text}</code>),
        ),
        [
          "Began",
          <>
            <Time at={startedAt} text={moment(startedAt)} />, {ago(startedAt, now.value)}
          </>,
        ],
      ]}
    />
  );
}

/** @param query finds the calls with the value @returns undefined without a value */
function row(label: string, value?: ComponentChildren, query?: Readonly<Record<string, string | undefined>>) {
  return value ? ([label, query ? <Figure query={query}>{value}</Figure> : value] as const) : undefined;
}

/** The headers that weir adds to an answer, from the record. */
function Headers({ call }: { call: CallEntry }) {
  const served = call.outcome === "failed" ? undefined : servedBy(call);
  const losses = call.losses ?? [];
  const rows: (readonly [string, string] | undefined)[] = [
    ["status", String(call.status)],
    ["x-request-id", call.id],
    served && ["x-weir-provider", served.provider],
    served && served.deployment !== served.provider ? ["x-weir-deployment", served.deployment] : undefined,
    served && ["x-weir-model", served.model],
    served && call.lane !== undefined ? ["x-weir-lane", call.lane] : undefined,
    call.attempts.length > 1 ? ["x-weir-attempts", String(call.attempts.length)] : undefined,
    losses.length > 0
      ? ["x-weir-warnings", losses.map(({ code, path }) => `${code}:${path}`).join(", ")]
      : undefined,
  ];
  return <Facts rows={rows.map((row) => row && ([row[0], <code>{row[1]}</code>] as const))} />;
}
