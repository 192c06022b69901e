/** The new config, and the calls that it is tried on. */
import { useState } from "preact/hooks";
import type { ApiError } from "../../../console/data/api.ts";
import { rangeOf } from "../../../console/data/range.ts";
import { readOnly } from "../../../console/data/session.ts";
import { Button, Fault, Field } from "../../../console/parts/controls.tsx";
import { SelectField } from "../../../console/parts/form.tsx";

/** A number of calls, or a range that ends now. */
const CALLS = [
  ...[1_000, 10_000, 100_000].map(
    (last) => [String(last), `the last ${last.toLocaleString("en-US")}`] as const,
  ),
  ...(["1h", "24h", "7d", "30d"] as const).map((range) => [range, `of the last ${range}`] as const),
];

function bodyOf(config: string, calls: string): object {
  const last = Number(calls);
  return Number.isNaN(last)
    ? { config, last: 100_000, since: rangeOf({ range: calls }).from }
    : { config, last };
}

export function RehearsalForm(props: {
  busy: boolean;
  error: ApiError | undefined;
  onRun: (body: object) => void;
}) {
  const { busy, error, onRun } = props;
  const [config, setConfig] = useState("");
  const [calls, setCalls] = useState("1000");
  const why = readOnly() ?? (config.trim() === "" ? "Paste a config first" : undefined);
  return (
    <form
      class="body stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (why === undefined && !busy) onRun(bodyOf(config, calls));
      }}
    >
      <textarea
        class="textarea mono"
        rows={12}
        aria-label="Text of the config"
        placeholder={"aliases:\n  fast: openai/gpt-5.4-nano"}
        spellcheck={false}
        value={config}
        onInput={(event) => setConfig(event.currentTarget.value)}
      />
      <div class="two fields">
        <Field label="Or a file">
          <input
            type="file"
            accept=".yaml,.yml,.json"
            onChange={(event) => void event.currentTarget.files?.[0]?.text().then(setConfig)}
          />
        </Field>
        <SelectField label="Calls" options={CALLS} value={calls} onChange={setCalls} />
      </div>
      <Fault of={error?.message} />
      <div class="acts">
        <Button kind="main" type="submit" why={why} disabled={busy}>
          {busy ? "Rehearsing…" : "Rehearse"}
        </Button>
      </div>
    </form>
  );
}
