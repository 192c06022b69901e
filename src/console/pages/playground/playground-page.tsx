/** Playground and routing: what a name means now, and a call to try it with. */
import type {
  Explained,
  listModels,
  listNames,
  Models,
  overview as getOverview,
  routing as getRouting,
} from "../../data/types.ts";
import { useEffect, useRef } from "preact/hooks";
import { query, setQuery } from "../../data/location.ts";
import { useApi } from "../../data/use-api.ts";
import { usePost } from "../../data/use-post.ts";
import { Button, copy } from "../../parts/controls.tsx";
import { Page } from "../../shell/page.tsx";
import { bodyOfDraft, draft, edit, trialOf } from "./draft.ts";
import { chosenKey, Form } from "./form.tsx";
import { PlanPanel } from "./plan.tsx";
import { curlOf, FORMATS } from "../../data/request.ts";
import { Result } from "./result.tsx";

/** While the page is open: breakers open and close. Milliseconds. */
const PLAN_EVERY = 5_000;
const TYPING = 400;

export function PlaygroundPage() {
  const models = useApi<typeof listModels>("/models").data;
  const names = useApi<typeof listNames>("/names").data;
  const keys = names?.keys.filter(({ kind, gone }) => kind === "call" && !gone);
  const overview = useApi<typeof getOverview>("/overview").data;
  const open = overview?.open === true;
  const known = modelNames(models);
  const isPreset = useRef(query.value["model"] !== undefined);
  useEffect(() => {
    // Once: a name that somebody removes stays removed.
    if (isPreset.current || known.length === 0) return;
    isPreset.current = true;
    setQuery({ model: known[0] }, { replace: true });
  }, [known.length]);
  const values = draft.value;
  const trial = trialOf(query.value, values);
  const body = bodyOfDraft(trial, values);
  const key = chosenKey(keys, open);
  const needsKey = !open && key === undefined;
  const asked = typeof body === "string" || trial.model === "" ? undefined : body;
  const routing = useApi<typeof getRouting>(
    trial.model === "" ? undefined : `/routing/${encodeURIComponent(trial.model)}`,
    { every: PLAN_EVERY },
  );
  const explaining = usePost<Explained>(
    "/explain",
    needsKey || !asked
      ? undefined
      : {
          format: trial.format,
          body: asked,
          ...(key && { key }),
          ...(values.strict && { headers: { "x-weir-strict": "true" } }),
        },
    { wait: TYPING },
  );
  useEffect(() => {
    // An edited body names its own model.
    if (values.json === undefined || typeof body === "string" || body["model"] === trial.model) return;
    edit({ json: JSON.stringify({ ...body, model: trial.model }, null, 2) });
  }, [trial.model]);
  const origin = overview?.gateway ?? `http://${location.hostname}:9347`;
  const code = asked && { url: origin + FORMATS[trial.format], body: asked };
  return (
    <Page
      title="Playground"
      right={
        <>
          <Button
            class="w3"
            disabled={!code}
            onClick={() => code && void copy(curlOf(code.url, code.body, key !== undefined), "Request")}
          >
            Copy as curl
          </Button>
        </>
      }
    >
      <div class="play">
        <div class="stack">
          <Form models={known} keys={keys} open={open} explaining={explaining} />
          <PlanPanel model={trial.model} routing={routing} />
        </div>
        <Result explaining={explaining} body={asked} />
      </div>
    </Page>
  );
}

/** More suggestions slow a browser down. */
const MOST_NAMES = 400;

/** Routes and aliases first: they are the names that the operator chose. */
export function modelNames(models: Models | undefined): string[] {
  if (!models) return [];
  const ids = models.models.map(({ id }) => id);
  return [...new Set([...models.routes, ...Object.keys(models.aliases), ...ids])].slice(0, MOST_NAMES);
}
