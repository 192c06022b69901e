/** Alerts: who gets them, a test, and what became of the last ones. */
import { useEffect, useRef } from "preact/hooks";
import { hrefOf } from "../../../console/data/location.ts";
import { readOnly } from "../../../console/data/session.ts";
import { useApi } from "../../../console/data/use-api.ts";
import { useWrite } from "../../../console/data/use-write.ts";
import { Button, Fault } from "../../../console/parts/controls.tsx";
import { Heads } from "../../../console/parts/heads.tsx";
import { Shape } from "../../../console/parts/icons.tsx";
import { Ago, Time } from "../../../console/parts/numbers.tsx";
import { Panel } from "../../../console/parts/panel.tsx";
import { Blank, Loaded } from "../../../console/parts/states.tsx";
import { Page } from "../../../console/shell/page.tsx";
import type { listAlerts, SentAlert, TestSent, Webhook } from "../contracts.ts";
import { endWords } from "../words.ts";

const EVERY = 5_000;
/** A link may lead to an alert that is not one of the last. */
const MOST = 200;
const EXAMPLE = `alerts:
  - to: https://hooks.example.com/weir`;

const MARKS = { waiting: "warn", delivered: "ok", failed: "bad" } as const;

export function AlertsPage({ rest }: { rest: string }) {
  const alerts = useApi<typeof listAlerts>(`/alerts${rest === "" ? "" : `?limit=${MOST}`}`, { every: EVERY });
  const test = useWrite<TestSent>();
  const run = async (webhook?: string) => {
    await test.run("POST", "/alerts/test", { body: { ...(webhook !== undefined && { webhook }) } });
    alerts.again();
  };
  const why = readOnly() ?? (test.busy ? "A test is on its way" : undefined);
  return (
    <Page title="Alerts">
      <Panel title="Webhooks" busy={alerts.busy}>
        <Loaded of={alerts} what="Alerts">
          {({ webhooks }) =>
            webhooks?.length ? (
              <>
                <Fault of={test.error?.message} />
                <Webhooks of={webhooks} why={why} onTest={(webhook) => void run(webhook)} />
              </>
            ) : (
              <Blank title="No webhook." acts={<pre class="code">{EXAMPLE}</pre>}>
                The configuration names them; then run weir reload.
              </Blank>
            )
          }
        </Loaded>
      </Panel>
      <Panel title="Last alerts" busy={alerts.busy}>
        <Loaded of={alerts} what="Alerts">
          {({ alerts: sent }) =>
            sent.length === 0 ? (
              <Blank title="No alert was sent.">A test shows whether a webhook takes them.</Blank>
            ) : (
              <div class="scroll">
                <table class="tbl wraps">
                  <Heads of={[["Alert"], ["Delivery"], ["Sent by", "w3"]]} />
                  <tbody>
                    {sent.map((one) => (
                      <Sent key={one.id} of={one} isAsked={one.id === rest} />
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

function Webhooks(props: {
  of: readonly Webhook[];
  why: string | undefined;
  onTest: (webhook: string) => void;
}) {
  return (
    <div class="scroll">
      <table class="tbl wraps">
        <Heads of={[["Webhook"], ["Gets", "w3"], ["Last delivery"], ["?Test"]]} />
        <tbody>
          {props.of.map(({ id, to, events, format, signed, last }, at) => (
            <tr key={at}>
              <td>
                {to}
                <div class="dim">
                  {format}, {signed ? "signed" : "not signed"}
                </div>
              </td>
              <td class="w3">{events.join(", ")}</td>
              <td>
                {last ? (
                  <Outcome result={last.result} reason={last.reason} />
                ) : (
                  <span class="dim">never</span>
                )}
                {last && (
                  <div class="dim">
                    {last.event}, <Ago at={last.at} />
                  </div>
                )}
              </td>
              <td class="num">
                <Button why={props.why} onClick={() => props.onTest(id)}>
                  Send a test
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Outcome({ result, reason }: Pick<SentAlert["deliveries"][number], "result" | "reason">) {
  return (
    <span class="mark wrap">
      <Shape state={MARKS[result]} />
      <span>
        {result === "waiting" && reason !== undefined ? "waiting to try again" : result}
        {reason !== undefined && `: ${reason}`}
      </span>
    </span>
  );
}

function Sent({ of: alert, isAsked }: { of: SentAlert; isAsked: boolean }) {
  const { id, at, event, message, deliveries, node, subject } = alert;
  const link = LINKS[event];
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isAsked) row.current?.scrollIntoView({ block: "center" });
  }, [isAsked]);
  const goesOn = endWords(alert);
  return (
    <tr ref={row} id={id} {...(isAsked && { "aria-selected": true })}>
      <td>
        {message}
        <div class="dim">
          <Time at={at} />, {event}
          {goesOn !== "" && <span class={alert.endedAt === undefined ? "c-warn" : ""}>, {goesOn}</span>}
          {link && (
            <>
              {" · "}
              <a class="fig" href={link(subject)}>
                {event === "budget" ? "Budgets" : "Calls"}
              </a>
            </>
          )}
        </div>
      </td>
      <td>
        {deliveries.map(({ webhook, to, result, reason, tries }) => (
          <div key={webhook}>
            <Outcome result={result} reason={reason} />
            <div class="dim">
              {to}
              {tries > 1 && `, ${tries} tries`}
            </div>
          </div>
        ))}
      </td>
      <td class="w3 mid">{node}</td>
    </tr>
  );
}

const LINKS: Partial<Record<SentAlert["event"], (subject: string) => string>> = {
  budget: () => hrefOf("/keys"),
  breaker: (deployment) => hrefOf("/calls", { deployment, outcome: "failed" }),
  credential: (deployment) => hrefOf("/calls", { deployment, outcome: "failed" }),
  errors: () => hrefOf("/calls", { outcome: "failed" }),
};
