/** The page Providers: a card for each deployment, those with trouble first. */
import type { listProviders, ProviderEntry } from "../../data/types.ts";
import { useEffect } from "preact/hooks";
import { query } from "../../data/location.ts";
import { queryOf } from "../../data/api.ts";
import { rangeOf } from "../../data/range.ts";
import { setTrouble } from "../../data/status.ts";
import { useApi } from "../../data/use-api.ts";
import { counted } from "../../numbers/counts.ts";
import { moment } from "../../numbers/times.ts";
import { Mark } from "../../parts/icons.tsx";
import { Panel } from "../../parts/panel.tsx";
import { PictureButtons } from "../../parts/picture-buttons.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import { sortedBy } from "../../parts/sort.tsx";
import { Blank, Loaded } from "../../parts/states.tsx";
import { Page } from "../../shell/page.tsx";
import { lacks, readiness } from "../first-steps.ts";
import { HealthCard } from "./card.tsx";
import { type Card, Compare, failedShare } from "./compare.tsx";
import { byTrouble } from "./words.ts";

const EVERY = 5_000;
const USUAL = "1h";

export function ProvidersPage() {
  const values = query.value;
  const range = rangeOf(values, USUAL);
  const reading = useApi<typeof listProviders>(`/providers${queryOf({ from: range.from, to: range.to })}`, {
    every: EVERY,
  });
  const calls = range.name === undefined ? { from: values["from"], to: values["to"] } : { range: range.name };

  useEffect(() => {
    const down = reading.data?.providers
      .flatMap(({ deployments }) => deployments)
      .filter(({ state }) => state === "left-alone").length;
    if (down !== undefined) setTrouble("/providers", down > 0 ? `${down} down` : undefined);
  }, [reading.data]);

  return (
    <Page
      title="Providers"
      right={
        <>
          <RangePicker usual={USUAL} />
          <PictureButtons name="Providers" />
        </>
      }
    >
      <Loaded of={reading} what="Providers" rows={8}>
        {(report) => {
          const on = sortedBy(cardsOf(report.providers), ORDERS);
          const off = report.providers.filter((provider) => !provider.on);
          return (
            <>
              {report.searchedTo !== undefined && report.searchedTo > report.from && (
                <p class="mid">
                  Latency and errors are of the newest calls, since {moment(report.searchedTo)}; there are
                  more in this time.
                </p>
              )}
              {on.length === 0 ? (
                <Panel>
                  <Blank title="No provider can answer.">
                    Set the variable of one below, and start weir again.
                  </Blank>
                </Panel>
              ) : (
                <>
                  <Compare cards={on} range={calls} />
                  <div class="cards" aria-busy={reading.busy}>
                    {on.map(({ provider, deployment }) => (
                      <HealthCard
                        key={deployment.name}
                        provider={provider.name}
                        deployment={deployment}
                        report={report}
                        range={calls}
                        isSought={values["open"] === deployment.name || values["open"] === provider.name}
                      />
                    ))}
                  </div>
                </>
              )}
              {off.length > 0 && <NotSetUp providers={off} />}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

const ORDERS: Readonly<Record<string, (card: Card) => number | undefined>> = {
  p95: ({ deployment }) => deployment.latency.p95,
  failed: ({ deployment }) => failedShare(deployment),
  calls: ({ deployment }) => deployment.calls,
};

function cardsOf(providers: readonly ProviderEntry[]): Card[] {
  return providers
    .filter(({ on }) => on)
    .flatMap((provider) => provider.deployments.map((deployment) => ({ provider, deployment })))
    .sort((a, b) => byTrouble(a.deployment, b.deployment));
}

function NotSetUp({ providers }: { providers: readonly ProviderEntry[] }) {
  return (
    <Panel title="Not set up" right={<span class="dim">{counted(providers.length, "provider")}</span>}>
      <ul class="without-key">
        {providers.map((provider) => (
          <li key={provider.name} title={readiness(provider)}>
            <Mark state="off">{provider.name}</Mark>
            <span class="dim anywhere">{lacks(provider)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
