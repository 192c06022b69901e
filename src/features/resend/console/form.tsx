/** What is sent again: models, the key that pays, and what it may cost. */
import { useState } from "preact/hooks";
import { query, setQuery } from "../../../console/data/location.ts";
import type {
  CallEntry,
  listModels,
  listNames,
  overview as getOverview,
} from "../../../console/data/types.ts";
import { type Reading, useApi } from "../../../console/data/use-api.ts";
import { bytes } from "../../../console/numbers/bytes.ts";
import { counted } from "../../../console/numbers/counts.ts";
import { CostSentence } from "../../../console/pages/playground/estimate.tsx";
import { costOf } from "../../../console/pages/playground/explaining.ts";
import { keyOptions } from "../../../console/pages/playground/form.tsx";
import { modelNames } from "../../../console/pages/playground/playground-page.tsx";
import { Button } from "../../../console/parts/controls.tsx";
import { SelectField, Suggestions, TextField } from "../../../console/parts/form.tsx";
import type { ReplayPlan } from "../contracts.ts";
import { MOST_MODELS, type Runs } from "./use-runs.ts";

interface FormProps {
  call: CallEntry;
  models: readonly string[];
  /** One of each model. */
  plans: readonly Reading<ReplayPlan>[];
  runs: Runs;
}

export function ResendForm({ call, models, plans, runs }: FormProps) {
  const known = useApi<typeof listModels>("/models").data;
  const names = useApi<typeof listNames>("/names").data;
  const open = useApi<typeof getOverview>("/overview").data?.open === true;
  const [runTools, setRunTools] = useState(false);
  const keys = names?.keys.filter(({ kind, gone }) => kind === "call" && !gone);
  const wanted = query.value["key"] ?? call.key;
  const key = keys?.find(({ id, name }) => id === wanted || name === wanted)?.id;
  const wouldRun = [...new Set(plans.flatMap(({ data }) => data?.runs ?? []))];
  const why =
    (models.some((model) => model === "") ? "Name a model first." : undefined) ??
    (keys === undefined ? "The keys are not read yet." : undefined) ??
    (key === undefined && !open ? "Choose the key that pays." : undefined) ??
    (wouldRun.length > 0 && !runTools ? "weir would run tools again: allow it first." : undefined);
  const setModels = (next: readonly string[]) => setQuery({ models: next.join("|") }, { replace: true });
  const submit = () => {
    if (why === undefined) runs.send({ id: call.id, format: call.format, models, key, runTools });
  };
  return (
    <section class="panel" aria-label="Request">
      <form
        class="body stack"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <About call={call} plan={plans.find(({ data }) => data)?.data} />
        <Suggestions id="resend-models" of={modelNames(known)} />
        {models.map((model, at) => (
          <div class="version-of" key={at}>
            <TextField
              label={at === 0 ? "Model" : `Model ${at + 1}`}
              list="resend-models"
              value={model}
              onChange={(text) => setModels(models.map((one, place) => (place === at ? text.trim() : one)))}
            />
            {models.length > 1 && (
              <Button
                kind="quiet"
                icon="close"
                aria-label={`Without model ${at + 1}`}
                onClick={() => setModels(models.filter((_, place) => place !== at))}
              />
            )}
            <Price plan={plans[at]} />
          </div>
        ))}
        {models.length < MOST_MODELS && (
          <div class="acts">
            <Button onClick={() => setModels([...models, ""])}>Another model beside it</Button>
          </div>
        )}
        <SelectField
          label="Key"
          options={keyOptions(keys, open)}
          value={key ?? ""}
          onChange={(id) => setQuery({ key: id }, { replace: true })}
        />
        {wouldRun.length > 0 && (
          <label class="mark">
            <input
              type="checkbox"
              checked={runTools}
              onChange={(event) => setRunTools(event.currentTarget.checked)}
            />
            let weir run tools again: {wouldRun.join(", ")}
          </label>
        )}
        <div class="acts">
          {runs.isRunning ? (
            <Button kind="main" onClick={runs.stop}>
              Stop
            </Button>
          ) : (
            <Button kind="main" type="submit" why={why}>
              {models.length === 1 ? "Send again" : `Send ${counted(models.length, "call")}`}
            </Button>
          )}
        </div>
      </form>
    </section>
  );
}

function About({ call, plan }: { call: CallEntry; plan: ReplayPlan | undefined }) {
  return (
    <p class="mid">
      The {call.format} request as the client sent it{plan && `, ${bytes(plan.bytes)}`}
      {call.stream ? ", streamed" : ", not streamed"}.
      {plan?.masked && " *** stands where credentials were masked."}
      {plan && plan.tools.length > 0 && (
        <>
          {" "}
          It offers {counted(plan.tools.length, "tool")} ({plan.tools.slice(0, 5).join(", ")}
          {plan.tools.length > 5 && "…"}). Those of the client do not run: the page shows what an answer asks
          of them. Those that the provider runs, such as web search, run again.
        </>
      )}
    </p>
  );
}

function Price({ plan }: { plan: Reading<ReplayPlan> | undefined }) {
  const { data, error, busy } = plan ?? {};
  const cost = data && costOf(data);
  return (
    <p class="note estimate" aria-live="polite" aria-busy={busy === true}>
      <span>
        {error ? (
          <span class="c-bad">{error.message}</span>
        ) : !data ? (
          "…"
        ) : data.status !== 200 ? (
          <>
            It would get <b class="c-bad">{data.status}</b>: {data.fault}
          </>
        ) : (
          <>
            {data.servedBy && (
              <>
                {data.servedBy.provider}/{data.servedBy.model}.{" "}
              </>
            )}
            {cost ? (
              <CostSentence cost={cost} isFirst={(data.servedBy?.tries ?? 1) > 1} />
            ) : (
              "Costs nothing that weir counts. "
            )}
            {(data.losses ?? 0) > 0 && `${counted(data.losses!, "part")} of it cannot be carried over.`}
          </>
        )}
      </span>
    </p>
  );
}
