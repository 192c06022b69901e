/** All deployments on one axis: how fast they answer, what fails. Its heads order the cards, too. */
import type { QueryChange } from "../../data/location.ts";
import { count, percent } from "../../numbers/counts.ts";
import { duration } from "../../numbers/durations.ts";
import type { ProviderEntry, DeploymentEntry } from "../../data/types.ts";
import { Figure } from "../../parts/controls.tsx";
import { Panel } from "../../parts/panel.tsx";
import { SortHead } from "../../parts/sort.tsx";
import { axisTop, errorGroups, failedOf } from "./words.ts";

export interface Card {
  provider: ProviderEntry;
  deployment: DeploymentEntry;
}

/** Share of failed attempts; undefined without any. */
export function failedShare({ failed, looked }: DeploymentEntry): number | undefined {
  return looked === 0 ? undefined : failed / looked;
}

const HEADS = ["429", "5xx", "timeout, broken", "credential", "client's fault"];

export function Compare({ cards, range }: { cards: readonly Card[]; range: QueryChange }) {
  const top = axisTop(Math.max(1, ...cards.map(({ deployment: { latency } }) => latency.p95 ?? 0)));
  return (
    <Panel title="Compared" foot="The client's faults (400, 404, 422) are in no share of failures.">
      <div class="scroll">
        <table class="tbl compact compare">
          <thead>
            <tr>
              <th scope="col">Deployment</th>
              <th scope="col" class="track w2">
                <span class="between">
                  <span>0</span>
                  <span>first token, p50 to p95</span>
                  <span>{duration(top)}</span>
                </span>
              </th>
              <SortHead by="p95" look="num">
                p95
              </SortHead>
              <SortHead by="failed" look="num">
                Failed
              </SortHead>
              {HEADS.map((name) => (
                <th scope="col" class="num w3" key={name}>
                  {name}
                </th>
              ))}
              <SortHead by="calls" look="num">
                Calls
              </SortHead>
            </tr>
          </thead>
          <tbody>
            {cards.map(({ deployment }) => (
              <Row key={deployment.name} deployment={deployment} top={top} range={range} />
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Row(props: { deployment: DeploymentEntry; top: number; range: QueryChange }) {
  const { deployment, top, range } = props;
  const { name, latency, calls } = deployment;
  return (
    <tr>
      <td class="p-name">
        <span class="clip">{name}</span>
      </td>
      <td class="track w2">
        <Track p50={latency.p50} p95={latency.p95} top={top} />
      </td>
      <td class="num">{duration(latency.p95)}</td>
      <td class="num" title={failedOf(deployment)}>
        {deployment.failed === 0 ? (
          <span class="dim">{percent(failedShare(deployment))}</span>
        ) : (
          <Figure query={{ ...range, tried: `failed@${name}` }}>{percent(failedShare(deployment))}</Figure>
        )}
      </td>
      {errorGroups(deployment).map((group) => (
        <td class="num w3" key={group.name}>
          {group.calls === 0 ? (
            <span class="dim">0</span>
          ) : (
            <Figure query={{ ...range, ...group.filter }}>{count(group.calls)}</Figure>
          )}
        </td>
      ))}
      <td class="num">
        {calls === 0 ? (
          <span class="dim">0</span>
        ) : (
          <Figure query={{ ...range, deployment: name }}>{count(calls)}</Figure>
        )}
      </td>
    </tr>
  );
}

/** From half of the calls to 95 % of them. */
function Track({ p50, p95, top }: { p50: number | undefined; p95: number | undefined; top: number }) {
  if (p50 === undefined || p95 === undefined) return <span class="dim">no answer to measure</span>;
  const at = (ms: number) => `${((ms / top) * 100).toFixed(2)}%`;
  return (
    <svg
      class="track"
      height="12"
      role="img"
      aria-label={`First token: p50 ${duration(p50)}, p95 ${duration(p95)}`}
    >
      <line x1={at(p50)} x2={at(p95)} y1="6" y2="6" />
      <circle cx={at(p50)} cy="6" r="4" />
      <line x1={at(p95)} x2={at(p95)} y1="1" y2="11" />
    </svg>
  );
}
