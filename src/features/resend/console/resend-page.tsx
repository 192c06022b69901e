/** Sends a captured call again, to up to three models, and compares the answers. */
import { useEffect } from "preact/hooks";
import { usePost } from "../../../console/data/use-post.ts";
import { useApi, useReading } from "../../../console/data/use-api.ts";
import { hrefOf, query } from "../../../console/data/location.ts";
import { readOnly } from "../../../console/data/session.ts";
import type { CallEntry, getCall, Talk } from "../../../console/data/types.ts";
import { counted } from "../../../console/numbers/counts.ts";
import { Blank, Loaded } from "../../../console/parts/states.tsx";
import { Page } from "../../../console/shell/page.tsx";
import type { ReplayPlan } from "../contracts.ts";
import { ResendForm } from "./form.tsx";
import { MOST_MODELS, useRuns } from "./use-runs.ts";
import { Versions } from "./versions.tsx";

const TYPING = 400;

export function ResendPage({ rest: id }: { rest: string }) {
  const call = useApi<typeof getCall>(`/calls/${encodeURIComponent(id)}`);
  const why = readOnly();
  const crumbs = (
    <h1 class="crumbs">
      <a class="plain mid" href={hrefOf("/calls")}>
        Calls
      </a>
      <span class="dim"> / </span>
      <a class="plain mid clip" href={hrefOf(`/calls/${id}`)}>
        <code>{id}</code>
      </a>
      <span class="dim"> / </span>
      Send again
    </h1>
  );
  return (
    <Page title={`Send ${id} again`} crumbs={crumbs}>
      {why === undefined ? (
        <Loaded of={call} what="The call">
          {(data) => <Resend call={data} key={data.id} />}
        </Loaded>
      ) : (
        <Blank title="This key may not send calls again.">It can look, not change.</Blank>
      )}
    </Page>
  );
}

function Resend({ call }: { call: CallEntry }) {
  const at = `/calls/${encodeURIComponent(call.id)}`;
  const kept = useReading<{ talk: Talk }>(`${at}/body`);
  const earlier = useApi<never>(`/calls?replayOf=${encodeURIComponent(call.id)}&limit=20` as never);
  const runs = useRuns();
  const { models: named, key } = query.value;
  const models = (named ?? call.model).split("|").slice(0, MOST_MODELS);
  const planOf = (model: string | undefined) =>
    usePost<ReplayPlan>(`${at}/replay/explain`, model ? { model, key: key ?? call.key ?? "" } : undefined, {
      wait: TYPING,
    });
  const plans = [planOf(models[0]), planOf(models[1]), planOf(models[2])].slice(0, models.length);
  const booked = runs.sent.filter(({ call: record }) => record).length;
  useEffect(() => {
    if (booked > 0) earlier.again();
  }, [booked]);
  const never = plans.find(({ error }) => error?.code === "not_captured" || error?.code === "not_repeatable");
  if (never?.error)
    return (
      <Blank title="This call cannot be sent again." alert>
        {never.error.message}
      </Blank>
    );
  return (
    <div class="play">
      <ResendForm call={call} models={models} plans={plans} runs={runs} />
      <div class="stack">
        <Versions call={call} talk={kept.data?.talk} sent={runs.sent} />
        <Earlier
          calls={(earlier.data as { calls?: readonly CallEntry[] } | undefined)?.calls ?? []}
          id={call.id}
        />
      </div>
    </div>
  );
}

function Earlier({ calls, id }: { calls: readonly CallEntry[]; id: string }) {
  if (calls.length === 0) return null;
  return (
    <p class="mid">
      <a class="fig" href={hrefOf("/calls", { fact: `replayOf:${id}` })}>
        {counted(calls.length, "call")} {calls.length === 1 ? "sends" : "send"} it again
      </a>
      .
    </p>
  );
}
