/** Calls that a rule of the gateway refused today: when, whose, why. */
import type { CallEntry, Calls, listCalls } from "../../data/types.ts";
import { now } from "../../data/clock.ts";
import { hrefOf } from "../../data/location.ts";
import { queryOf } from "../../data/api.ts";
import { useApi } from "../../data/use-api.ts";
import { Tag } from "../../parts/controls.tsx";
import { Time } from "../../parts/numbers.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Loaded } from "../../parts/states.tsx";

const EVERY = 15_000;
const SHOWN = 8;

/** @param props.of a key; absent: all keys */
export function Refused({
  of,
  title = "Refused today",
}: {
  of?: { id: string; name: string };
  title?: string;
}) {
  const date = new Date(now.value);
  const from = new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const filter = { refused: "any", key: of?.id, from };
  const reading = useApi<typeof listCalls>(`/calls${queryOf({ ...filter, limit: SHOWN })}`, { every: EVERY });
  const link = hrefOf("/calls", { refused: "any", key: of?.name, from });
  return (
    <Panel
      title={title}
      right={
        <a class="plain mid" href={link}>
          All in Calls
        </a>
      }
    >
      <Loaded of={reading} what="Refused calls" rows={3}>
        {({ calls }) =>
          calls.length === 0 ? (
            <p class="body mid">No call was refused today.</p>
          ) : (
            <div class="scroll">
              <table class="tbl stackrows wraps refused">
                <tbody>
                  {calls.map((call) => (
                    <RefusedRow key={call.id} call={call} withKey={of === undefined} />
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

function RefusedRow({ call, withKey }: { call: CallEntry; withKey: boolean }) {
  const { refused = "scope", startedAt, id, model, keyName, status } = call;
  return (
    <tr>
      <td class="dim p-cost">
        <a class="fig" href={hrefOf(`/calls/${id}`)} title="Open the call">
          <Time at={startedAt} />
        </a>
      </td>
      <td class="p-model">
        {withKey && `${keyName ?? call.key ?? "no key"} `}
        <Tag look={refused === "budget" ? "warn" : ""}>{refused}</Tag>
      </td>
      <td class="mid p-text">
        {call.refusedBy
          ? `By the ${call.refusedBy.kind === "budget" ? "budget" : "limit"} ${call.refusedBy.name}.`
          : SENTENCES[refused]}{" "}
        It asked for {model} and got {status}.
      </td>
    </tr>
  );
}

const SENTENCES: Record<NonNullable<CallEntry["refused"]>, string> = {
  budget: "A budget had less left than the call might cost.",
  rate: "The limit of calls was used up.",
  tokens: "The limit of tokens was used up.",
  concurrency: "As many calls ran at once as are allowed.",
  scope: "The key may not do this.",
  price: "The model has no price, and a hard budget needs one.",
};
