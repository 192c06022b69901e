/** A deployment: its state with the reason, how fast it answers, what fails, what it costs. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { now } from "../../data/clock.ts";
import { hrefOf, type QueryChange } from "../../data/location.ts";
import type { Breaker, DeploymentEntry, Providers } from "../../data/types.ts";
import { percent, whole } from "../../numbers/counts.ts";
import { duration } from "../../numbers/durations.ts";
import { dollars } from "../../numbers/money.ts";
import { Figure } from "../../parts/controls.tsx";
import { Mark } from "../../parts/icons.tsx";
import { Ago, Unpriced } from "../../parts/numbers.tsx";
import { Facts } from "../../parts/panel.tsx";
import { LatencyLine } from "./latency-line.tsx";
import { deploymentName, errorGroups, failedOf, sayOne, sayState, STATES } from "./words.ts";

interface Props {
  provider: string;
  deployment: DeploymentEntry;
  report: Providers;
  /** The range of the page, which Calls takes over. */
  range: QueryChange;
  /** Another page led to it: it is brought into view, with all that it knows. */
  isSought: boolean;
}

export function HealthCard({ provider, deployment, report, range, isSought }: Props) {
  const article = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isSought) article.current?.focus();
  }, [isSought]);

  const { shape, word, card } = STATES[deployment.state];
  const name = deploymentName(deployment, provider);
  const calls = { ...range, provider, ...(name === "default" ? {} : { deployment: deployment.name }) };
  const { latency, inflight, maxConcurrency, lastError, failed } = deployment;
  return (
    <article class={`panel card ${card}`} aria-label={deployment.name} tabIndex={-1} ref={article}>
      <header>
        <h2>
          {provider}
          <span class="dim"> {name}</span>
        </h2>
        <div class="right">
          <Mark state={shape}>{word}</Mark>
        </div>
      </header>
      <div class="body">
        <p class="state">
          {sayState(deployment, now.value) ??
            (failed === 0 ? (
              "No attempt failed in this time."
            ) : (
              <>
                <Figure query={{ ...range, tried: `failed@${deployment.name}` }}>
                  {failedOf(deployment)}
                </Figure>{" "}
                attempts failed in this time.
              </>
            ))}
        </p>
        <div class="trio">
          <Stat name="first token, p50">{duration(latency.p50)}</Stat>
          <Stat name="p95">{duration(latency.p95)}</Stat>
          <Stat name="in flight">
            {whole(inflight)}
            {maxConcurrency !== undefined && ` of ${whole(maxConcurrency)}`}
          </Stat>
        </div>
        <div class="fullspark">
          <LatencyLine
            series={deployment.series}
            from={report.from}
            to={report.to}
            sliceMs={report.sliceMs}
            bad={deployment.state === "left-alone"}
          />
        </div>
        <div class="trio five">
          {errorGroups(deployment).map((group) => (
            <Stat key={group.name} name={group.name} quiet={group.calls === 0}>
              {group.calls === 0 ? (
                "0"
              ) : (
                <Figure query={{ ...range, ...group.filter }}>{whole(group.calls)}</Figure>
              )}
            </Stat>
          ))}
        </div>
        <div class="dim clip">
          {lastError ? (
            <>
              Last:{" "}
              <Figure to={`/calls/${lastError.call}`} title="Open the call">
                {[lastError.status, lastError.code].filter((word) => word !== undefined).join(" ")}
              </Figure>
              , <Ago at={lastError.at} />
            </>
          ) : (
            deployment.errors.length === 0 && "No failed call among the newest."
          )}
        </div>
        <Details deployment={deployment} isOpen={isSought} />
      </div>
      <footer>
        <Paid deployment={deployment} />
        <span class="grow" />
        <a class="plain" href={hrefOf("/calls", calls)}>
          {percent(deployment.shareOfCalls)} of the calls
        </a>
      </footer>
    </article>
  );
}

function Stat({
  name,
  quiet = false,
  children,
}: {
  name: string;
  quiet?: boolean;
  children: ComponentChildren;
}) {
  return (
    <div>
      <div class="k">{name}</div>
      <div class={`v ${quiet ? "dim" : ""}`}>{children}</div>
    </div>
  );
}

function Paid({ deployment: { perMillion, cost, calls } }: { deployment: DeploymentEntry }) {
  if (calls === 0) return <span>No charge in this time</span>;
  if (perMillion === undefined || (perMillion === 0 && cost === 0))
    return cost === 0 ? <span>$0 as paid</span> : <Unpriced />;
  return (
    <span>
      <b>{dollars(perMillion)}</b> a million tokens, as paid
    </span>
  );
}

function Details({ deployment, isOpen }: { deployment: DeploymentEntry; isOpen: boolean }) {
  const { breakers, errors, url, keyVariable, weight, priority, latency } = deployment;
  return (
    <details open={isOpen}>
      <summary class="mid">Models, errors, settings</summary>
      <div class="stack">
        {breakers.length > 0 && (
          <ul class="breakers">
            {breakers.map((breaker) => (
              <BreakerLine key={`${breaker.model} ${breaker.state}`} breaker={breaker} />
            ))}
          </ul>
        )}
        <Facts
          rows={[
            latency.total95 === undefined
              ? undefined
              : ["whole call", `p50 ${duration(latency.total50)}, p95 ${duration(latency.total95)}`],
            errors.length === 0
              ? undefined
              : [
                  "errors",
                  errors.map(({ class: name, calls: count }) => `${name}: ${whole(count)}`).join(", "),
                ],
            url === "" ? undefined : ["address", <code>{url}</code>],
            keyVariable === undefined ? undefined : ["key from", <code>{keyVariable}</code>],
            weight === undefined ? undefined : ["weight", String(weight)],
            priority === undefined ? undefined : ["priority", String(priority)],
          ]}
        />
      </div>
    </details>
  );
}

function BreakerLine({ breaker }: { breaker: Breaker }) {
  return (
    <li>
      <b>{breaker.model}</b>{" "}
      <span class="mid">
        {sayOne(breaker, now.value)}
        {breaker.workers > 1 && `, ${breaker.workers} workers`}
      </span>
    </li>
  );
}
