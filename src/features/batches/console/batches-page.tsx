/** Batches: the newest ones, and one batch with its numbers. */
import { hrefOf } from "../../../console/data/location.ts";
import { useApi } from "../../../console/data/use-api.ts";
import { Heads } from "../../../console/parts/heads.tsx";
import { Mark } from "../../../console/parts/icons.tsx";
import { Ago, MoneyCell } from "../../../console/parts/numbers.tsx";
import { Panel } from "../../../console/parts/panel.tsx";
import { Blank, Loaded } from "../../../console/parts/states.tsx";
import { Page } from "../../../console/shell/page.tsx";
import type { listBatches, ListedBatch } from "../contracts.ts";
import { progressWords } from "../words.ts";
import { BatchPanels } from "./batch-panels.tsx";
import { MARKS } from "./marks.ts";

const EVERY = 5_000;
const MOST = 200;
const HEADS = [
  ...[["Batch"], ["State"], ["Lines"], ["Cost", "num"]],
  ...[
    ["Key", "w3"],
    ["Made", "w3"],
  ],
] as const;

export function BatchesPage({ rest }: { rest: string }) {
  return <Page title="Batches">{rest === "" ? <List /> : <BatchPanels id={rest} />}</Page>;
}

function List() {
  const batches = useApi<typeof listBatches>(`/batches?limit=${MOST}`, { every: EVERY });
  return (
    <Panel title="Newest batches" busy={batches.busy}>
      <Loaded of={batches} what="Batches">
        {({ batches: all }) =>
          all.length === 0 ? (
            <Blank title="No batch.">Clients make them at /v1/batches and /v1/messages/batches.</Blank>
          ) : (
            <div class="scroll">
              <table class="tbl wraps">
                <Heads of={HEADS} />
                <tbody>
                  {all.map((batch) => (
                    <Row key={batch.id} of={batch} />
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

function Row({ of: batch }: { of: ListedBatch }) {
  const { id, name, model, endpoint, state, reason, cost, keyName, key, path, createdAt } = batch;
  return (
    <tr>
      <td>
        <a class="fig" href={hrefOf(`/batches/${id}`)}>
          {name ?? id}
        </a>
        <div class="dim">{model ?? endpoint}</div>
      </td>
      <td>
        <Mark state={MARKS[state]}>{state}</Mark>
        {reason !== undefined && <div class="dim">{reason}</div>}
      </td>
      <td>{progressWords(batch)}</td>
      <MoneyCell nano={cost} />
      <td class="w3">{keyName ?? key ?? path}</td>
      <td class="w3">
        <Ago at={createdAt} />
      </td>
    </tr>
  );
}
