/** One batch: its numbers, the faults of its input, and a button that cancels it. */
import type { ComponentChildren } from "preact";
import { readOnly } from "../../../console/data/session.ts";
import { useApi } from "../../../console/data/use-api.ts";
import { useWrite } from "../../../console/data/use-write.ts";
import { whole } from "../../../console/numbers/counts.ts";
import { Button, Fault } from "../../../console/parts/controls.tsx";
import { Heads } from "../../../console/parts/heads.tsx";
import { Mark } from "../../../console/parts/icons.tsx";
import { Ago, Money, Time } from "../../../console/parts/numbers.tsx";
import { Panel } from "../../../console/parts/panel.tsx";
import { Loaded } from "../../../console/parts/states.tsx";
import type { BatchDetails, getBatch } from "../contracts.ts";
import { progressWords } from "../words.ts";
import { CANCELLABLE, MARKS } from "./marks.ts";

const EVERY = 2_000;

export function BatchPanels({ id }: { id: string }) {
  const place = `/batches/${encodeURIComponent(id)}` as const;
  const batch = useApi<typeof getBatch>(place, { every: EVERY });
  const cancel = useWrite<BatchDetails>();
  const run = async () => {
    await cancel.run("POST", `${place}/cancel`);
    batch.again();
  };
  const state = batch.data?.state;
  const why =
    readOnly() ??
    (cancel.busy ? "It is being cancelled" : undefined) ??
    (state !== undefined && !CANCELLABLE.includes(state) ? `It is ${state}` : undefined);
  return (
    <>
      <Panel title={`Batch ${id}`} busy={batch.busy}>
        <Fault of={cancel.error?.message} />
        <Loaded of={batch} what="The batch">
          {(read) => <Facts of={read} />}
        </Loaded>
        <Button why={why} onClick={() => void run()}>
          Cancel the batch
        </Button>
      </Panel>
      {batch.data && batch.data.faults.length > 0 && <Faults of={batch.data.faults} />}
    </>
  );
}

function Facts({ of: batch }: { of: BatchDetails }) {
  const { usage, runner } = batch;
  const rows: readonly (readonly [string, ComponentChildren])[] = [
    ["State", <Mark state={MARKS[batch.state]}>{batch.state}</Mark>],
    ["Why", batch.reason],
    ["Lines", progressWords(batch)],
    ["Cost", <Money nano={batch.cost} />],
    ["Tokens", `${whole(usage.input)} in (${whole(usage.cached)} cached), ${whole(usage.output)} out`],
    ["Asks", batch.endpoint],
    ["Model", batch.model],
    ["Path", batch.path],
    ["Key", batch.keyName ?? batch.key],
    ["Made", <Time at={batch.createdAt} />],
    ["Deadline", <Time at={batch.deadline} />],
    ["Ended", batch.endedAt === undefined ? undefined : <Ago at={batch.endedAt} />],
    ["Output", batch.outputFile && `file-${batch.outputFile}`],
    ["Errors", batch.errorFile && `file-${batch.errorFile}`],
    ["Runner", runner && `${runner.node}, fence ${runner.fence}`],
  ];
  return (
    <div class="scroll">
      <table class="tbl wraps">
        <tbody>
          {rows.map(
            ([name, value]) =>
              value !== undefined && (
                <tr key={name}>
                  <td class="dim">{name}</td>
                  <td>{value}</td>
                </tr>
              ),
          )}
        </tbody>
      </table>
    </div>
  );
}

function Faults({ of: faults }: { of: BatchDetails["faults"] }) {
  return (
    <Panel title="Faults of the input">
      <div class="scroll">
        <table class="tbl wraps">
          <Heads of={[["Line", "num"], ["Code"], ["Fault"]]} />
          <tbody>
            {faults.map(({ line, code, message }, at) => (
              <tr key={at}>
                <td class="num">{line}</td>
                <td>{code}</td>
                <td>{message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
