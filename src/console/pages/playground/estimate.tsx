/** The cost that the request may have, and which budgets it asks, before it is sent. */
import type { ComponentChildren } from "preact";
import { counted } from "../../numbers/counts.ts";
import { dollars } from "../../numbers/money.ts";
import { hrefOf } from "../../data/location.ts";
import { type Cost, costOf, type Explaining, messageOf, nanoOf } from "./explaining.ts";

export function Estimate({ explaining }: { explaining: Explaining }) {
  const { data, error, busy } = explaining;
  return (
    <div class="note estimate" aria-live="polite" aria-busy={busy}>
      <span>
        {error ? (
          error.message
        ) : data ? (
          <Sentences explaining={explaining} />
        ) : (
          "Says what a request may cost before it is sent."
        )}
      </span>
    </div>
  );
}

function Sentences({ explaining: { data } }: { explaining: Explaining }) {
  if (!data?.explained)
    return (
      <>
        It would get <b class="c-bad">{data?.status}</b>: {messageOf(data?.error)}
      </>
    );
  const cost = costOf(data.explained);
  const { losses } = data.explained;
  return (
    <>
      {cost ? (
        <CostSentence cost={cost} isFirst={data.explained.plan.length > 1} />
      ) : (
        "Costs nothing that weir counts. "
      )}
      {losses.length > 0 && (
        <>
          <a class="fig" href={hrefOf("/playground", { ...currentQuery(), view: "losses" })}>
            {counted(losses.length, "part")}
          </a>{" "}
          of it cannot be carried over as it is.
        </>
      )}
    </>
  );
}

const currentQuery = () => Object.fromEntries(new URLSearchParams(location.search));

/** @param props.isFirst the first of several tries */
export function CostSentence({ cost, isFirst }: { cost: Cost; isFirst: boolean }) {
  const { hold, most, budgets } = cost;
  if (hold === null || most === null)
    return <>The model has no price: the call will be booked as unpriced. </>;
  const usual = hold < most ? <>, and holds {dollars(nanoOf(hold))} while it runs</> : null;
  return (
    <>
      {most === 0 ? (
        "Costs nothing. "
      ) : (
        <>
          {isFirst ? "The first try may" : "May"} cost up to <b>{dollars(nanoOf(most))}</b>
          {usual}.{" "}
        </>
      )}
      {budgets.length > 0 && (
        <>
          Asks {budgets.length === 1 ? "the budget" : "the budgets"} {listOf(budgets.map(({ name }) => name))}
          .{" "}
        </>
      )}
      Booked like any call.{" "}
    </>
  );
}

/** `a, b and c`, in bold. */
function listOf(names: readonly string[]): ComponentChildren {
  return names.map((name, at) => (
    <>
      {at === 0 ? "" : at === names.length - 1 ? " and " : ", "}
      <b>{name}</b>
    </>
  ));
}
