/** The left half: what is sent, and what it may cost. */
import type { Names } from "../../data/types.ts";
import { query, setQuery } from "../../data/location.ts";
import { readOnly } from "../../data/session.ts";
import { Button, Field, Segments } from "../../parts/controls.tsx";
import { SelectField, Suggestions, TextField } from "../../parts/form.tsx";
import { bodyOfDraft, draft, edit, trialOf } from "./draft.ts";
import { Estimate } from "./estimate.tsx";
import type { Explaining } from "./explaining.ts";
import { bodyOf, FORMATS, type FormatName } from "../../data/request.ts";
import { run, startRun, stopRun } from "./run.ts";

const FORMAT_OPTIONS = Object.keys(FORMATS).map((name) => [name as FormatName, name] as const);
const MAX_TOKENS = 10_000_000;

interface FormProps {
  /** Names for suggestions. */
  models: readonly string[];
  /** Undefined until they are read. */
  keys: Names["keys"] | undefined;
  /** Calls need no key. */
  open: boolean;
  explaining: Explaining;
}

/** The key of the address if it exists, or the only one: no other key pays for a call that was not meant for it. */
export function chosenKey(keys: Names["keys"] = [], open: boolean): string | undefined {
  const named = query.value["key"];
  const found = keys.find(({ id, name }) => id === named || name === named);
  return found?.id ?? (open || keys.length !== 1 ? undefined : keys[0]!.id);
}

export function Form({ models, keys, open, explaining }: FormProps) {
  const values = draft.value;
  const trial = trialOf(query.value, values);
  const body = bodyOfDraft(trial, values);
  const key = chosenKey(keys, open);
  const isRunning = run.value?.isRunning === true;
  const why =
    readOnly() ??
    (trial.model === "" && values.json === undefined ? "Name a model first." : undefined) ??
    (typeof body === "string" ? body : undefined) ??
    (keys === undefined ? "The keys are not read yet." : undefined) ??
    (key === undefined && !open
      ? keys?.length
        ? "Choose the key that pays for the call."
        : "Calls need a key, and there is none. Make one on Keys & budgets."
      : undefined);
  const submit = () => {
    if (why !== undefined || typeof body === "string") return;
    if (query.value["view"] !== undefined) setQuery({ view: undefined }, { replace: true });
    void startRun({ format: trial.format, body, strict: values.strict, ...(key && { key }) });
    document.getElementById("answer")?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    submit();
  };
  return (
    <section class="panel" aria-label="Request">
      <form
        class="body stack"
        onKeyDown={onKeyDown}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextField
          label="Model, alias or route"
          list="playground-models"
          value={trial.model}
          placeholder={models[0] ?? "provider/model"}
          onChange={(text) => setQuery({ model: text.trim() }, { replace: true })}
        />
        <Suggestions id="playground-models" of={models} />
        <div class="field">
          <span>Language of the client</span>
          <Segments
            label="Language of the client"
            options={FORMAT_OPTIONS}
            value={trial.format}
            onChoose={(format) => {
              edit({ json: undefined });
              setQuery({ format: format === "chat-completions" ? undefined : format }, { replace: true });
            }}
          />
        </div>
        {values.json === undefined ? (
          <Prompt />
        ) : (
          <BodyText fault={typeof body === "string" ? body : undefined} />
        )}
        <div class="two">
          {values.json === undefined && (
            <Field label="Most output tokens">
              <input
                class="input"
                type="number"
                min="1"
                max={MAX_TOKENS}
                value={values.limit}
                onChange={(event) =>
                  edit({ limit: Math.max(1, Math.round(event.currentTarget.valueAsNumber) || 1) })
                }
              />
            </Field>
          )}
          <SelectField
            label="Key"
            options={keyOptions(keys, open)}
            value={key ?? ""}
            onChange={(id) => setQuery({ key: id }, { replace: true })}
          />
        </div>
        <div class="acts checks">
          {values.json === undefined && (
            <Check is={values.stream} onChange={(stream) => edit({ stream })}>
              stream the answer
            </Check>
          )}
          <Check
            is={values.strict}
            title="x-weir-strict: what cannot be carried over becomes an error that names it"
            onChange={(strict) => edit({ strict })}
          >
            refuse losses
          </Check>
          <Check
            is={values.json !== undefined}
            title="Tools, images, several turns: write the body yourself"
            onChange={(own) => edit({ json: own ? JSON.stringify(bodyOf(trial), null, 2) : undefined })}
          >
            edit the body
          </Check>
        </div>
        <Estimate explaining={explaining} />
        <div class="acts">
          {isRunning ? (
            <Button kind="main" onClick={stopRun}>
              Stop
            </Button>
          ) : (
            <Button kind="main" type="submit" why={why}>
              Send <kbd class="w3">Ctrl ↵</kbd>
            </Button>
          )}
          <Button
            onClick={() => setQuery({ view: "onward" }, { replace: true })}
            disabled={trial.model === ""}
          >
            Explain only
          </Button>
          {why !== undefined && !isRunning && <span class="mid">{why}</span>}
        </div>
      </form>
    </section>
  );
}

export function keyOptions(keys: Names["keys"] | undefined, open: boolean): (readonly [string, string])[] {
  const none = open ? "none" : keys?.length === 0 ? "no key exists" : "choose…";
  return [
    ...(open || keys?.length !== 1 ? [["", none] as const] : []),
    ...(keys ?? []).map(({ id, name, path }) => [id, path === "/" ? name : `${name}, ${path}`] as const),
  ];
}

function Check(props: { is: boolean; title?: string; onChange: (is: boolean) => void; children: string }) {
  return (
    <label class="mark" title={props.title}>
      <input
        type="checkbox"
        checked={props.is}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      {props.children}
    </label>
  );
}

function Prompt() {
  const { system, prompt } = draft.value;
  return (
    <>
      <Field label="Prompt">
        <textarea
          class="textarea"
          rows={5}
          value={prompt}
          onInput={(event) => edit({ prompt: event.currentTarget.value })}
        />
      </Field>
      <details class="more-fields" open={system !== ""}>
        <summary>System prompt</summary>
        <textarea
          class="textarea"
          rows={3}
          aria-label="System prompt"
          value={system}
          onInput={(event) => edit({ system: event.currentTarget.value })}
        />
      </details>
    </>
  );
}

function BodyText({ fault }: { fault: string | undefined }) {
  return (
    <Field label="Body" error={fault}>
      <textarea
        class="textarea mono"
        rows={14}
        spellcheck={false}
        value={draft.value.json ?? ""}
        onInput={(event) => edit({ json: event.currentTarget.value })}
      />
    </Field>
  );
}
