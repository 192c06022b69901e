/** The tools of one server: what each says and costs, and its calls in the range of the page. */
import { queryOf } from "../../../console/data/api.ts";
import { query } from "../../../console/data/location.ts";
import { rangeOf } from "../../../console/data/range.ts";
import type { usage, UsageRow } from "../../../console/data/types.ts";
import { type Reading, useApi } from "../../../console/data/use-api.ts";
import { count } from "../../../console/numbers/counts.ts";
import { Figure } from "../../../console/parts/controls.tsx";
import { Heads } from "../../../console/parts/heads.tsx";
import { Mark } from "../../../console/parts/icons.tsx";
import { MoneyCell } from "../../../console/parts/numbers.tsx";
import { Panel } from "../../../console/parts/panel.tsx";
import { Blank, Loaded } from "../../../console/parts/states.tsx";
import type { ServerTool } from "../operator/contracts.ts";
import { visibleLines, visibleName } from "../pins/visible.ts";
import { argumentsOf, textIn, TOOL_MARKS } from "./words.ts";

export const USUAL_RANGE = "month";

const EVERY = 30_000;
const HEADS = [
  ...[["Tool"], ["Pin"], ["Tokens", "num w3"], ["A call", "num w3"]],
  ...[
    ["Calls", "num"],
    ["Spent", "num w3"],
  ],
] as const;

export function Tools({ of }: { of: Reading<{ tools: readonly ServerTool[] }> }) {
  const { from, to } = rangeOf(query.value, USUAL_RANGE);
  const sums = useApi<typeof usage>(`/usage${queryOf({ by: ["model"], provider: "mcp", from, to })}`, {
    every: EVERY,
  });
  const byName = new Map(sums.data?.rows.map((row) => [row.group["model"], row]));
  return (
    <Panel title="Tools" busy={of.busy}>
      <Loaded of={of} what="Tools">
        {({ tools }) =>
          tools.length === 0 ? (
            <Blank title="No tool was seen.">weir lists the tools when a caller first wants them.</Blank>
          ) : (
            <div class="scroll">
              <table class="tbl wraps">
                <Heads of={HEADS} />
                <tbody>
                  {tools.map((tool) => (
                    <Row key={tool.tool} tool={tool} sums={sums.data && (byName.get(tool.name) ?? NONE)} />
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

type ToolSums = Pick<UsageRow, "calls" | "cost">;
const NONE: ToolSums = { calls: 0, cost: 0 };

/** @param props.sums undefined while they are not known */
function Row({
  tool: { tool, state, definition, tokens, price, name },
  sums,
}: {
  tool: ServerTool;
  sums: ToolSums | undefined;
}) {
  const says = textIn(definition, "description") || textIn(definition, "title");
  const { range, from, to } = query.value;
  const calls = { provider: "mcp", model: name, range: from ? range : (range ?? USUAL_RANGE), from, to };
  return (
    <tr>
      <td>
        <b>{visibleName(tool)}</b>
        {visibleLines(says).map((line, at) => (
          <div key={at}>{line}</div>
        ))}
        <div class="dim">{argumentsOf(definition).map(visibleName).join(", ")}</div>
      </td>
      <td>
        <Mark state={TOOL_MARKS[state]}>{state}</Mark>
      </td>
      <td class="num w3">{count(tokens)}</td>
      <td class="num w3">
        <MoneyCell nano={price} />
      </td>
      <td class="num">
        {sums?.calls ? <Figure query={calls}>{count(sums.calls)}</Figure> : count(sums?.calls)}
      </td>
      <td class="num w3">
        <MoneyCell nano={sums?.cost} />
      </td>
    </tr>
  );
}
