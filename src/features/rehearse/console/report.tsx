/** What a rehearsal found: how many calls change, by which causes, and one changed call of each group as a whole. */
import { useState } from "preact/hooks";
import { hrefOf } from "../../../console/data/location.ts";
import { counted, whole } from "../../../console/numbers/counts.ts";
import { dollars } from "../../../console/numbers/money.ts";
import { Diff } from "../../../console/parts/diff.tsx";
import { diffJson } from "../../../console/parts/diff-lines.ts";
import { Heads } from "../../../console/parts/heads.tsx";
import { Mark } from "../../../console/parts/icons.tsx";
import { Facts, Note, Panel } from "../../../console/parts/panel.tsx";
import { Blank } from "../../../console/parts/states.tsx";
import type { RehearsalExample, RehearsalReport } from "../page/contracts.ts";
import { type GroupRow, rowsOf, sideOf } from "./rows.ts";

export function Report({ of: report }: { of: RehearsalReport }) {
  const { calls, same, changed, needs_tape: unknown, reasons, assumed, damaged, examples } = report;
  const [open, setOpen] = useState<string>();
  const rows = rowsOf(report);
  const chosen = rows.find(({ id }) => id === open);
  const example = chosen && examples[chosen.first];
  return (
    <>
      {damaged && <Note state="warn">Some outlines are damaged, and were left out.</Note>}
      {assumed !== undefined && <Note state="off">weir: {assumed}.</Note>}
      <Panel title="Calls">
        <div class="body" role="status">
          <Facts
            rows={[
              ["Rehearsed", <b>{counted(calls, "call")}</b>],
              ["The same", <Mark state="ok">{whole(same)}</Mark>],
              ["Changed", <Mark state={changed > 0 ? "warn" : "ok"}>{whole(changed)}</Mark>],
              [
                "Need their tape",
                <>
                  {whole(unknown)}
                  {reasons.map(({ why, calls: count }) => (
                    <div class="dim" key={why}>
                      {why}: {whole(count)}
                    </div>
                  ))}
                </>,
              ],
            ]}
          />
        </div>
      </Panel>
      <Panel title="What changes" foot="A call may be in several groups.">
        {rows.length === 0 ? (
          <Blank title="Nothing." />
        ) : (
          <div class="scroll">
            <table class="tbl wraps">
              <Heads of={[["Cause"], ["What"], ["Calls", "num"]]} />
              <tbody>
                {rows.map((row) => (
                  <Row
                    key={row.id}
                    of={row}
                    isOpen={row === chosen}
                    onOpen={examples[row.first] && (() => setOpen(row.id))}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
      {example && <Example of={example} key={example.call} />}
    </>
  );
}

function Row({
  of: row,
  isOpen,
  onOpen,
}: {
  of: GroupRow;
  isOpen: boolean;
  onOpen: (() => void) | undefined;
}) {
  const { cause, what, calls, before, after } = row;
  return (
    <tr {...(isOpen && { "aria-selected": true })}>
      <td class="nowrap">{cause}</td>
      <td>
        {onOpen ? (
          <button type="button" class="linkish fig" title="Show its first call" onClick={onOpen}>
            {what}
          </button>
        ) : (
          what
        )}
        {before !== undefined && after !== undefined && (
          <div class="dim">
            {dollars(before)} to {dollars(after)}
          </div>
        )}
      </td>
      <td class="num">{whole(calls)}</td>
    </tr>
  );
}

function Example({ of: example }: { of: RehearsalExample }) {
  const { call, at, operation, format, model, bytes } = example;
  const [before, after] = (["before", "after"] as const).map((side) => sideOf(example, side));
  return (
    <Panel title="One changed call">
      <div class="body stack">
        <Facts
          rows={[
            [
              "Call",
              <a class="fig mono" href={hrefOf(`/calls/${call}`)}>
                {call}
              </a>,
            ],
            ["Asked", `${operation} ${model}, ${format}, ${counted(bytes, "byte")}, ${at}`],
          ]}
        />
        <Diff lines={diffJson(before, after)} label="Before and after" />
      </div>
    </Panel>
  );
}
