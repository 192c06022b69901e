/** The dialogs of one key: rotate and revoke. */
import { useState } from "preact/hooks";
import { useApi } from "../../data/use-api.ts";
import type { CreatedKey, Key, RunningCalls, UsageReport } from "../../data/types.ts";
import { whole } from "../../numbers/counts.ts";
import { Button, Field } from "../../parts/controls.tsx";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { toast } from "../../parts/toasts.tsx";
import { queryOf } from "../../data/api.ts";
import { useWrite } from "./use-write.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Props {
  entry: Key;
  onClose: () => void;
}

const pathOf = ({ id }: Key) => `/keys/${encodeURIComponent(id)}`;

/** How long the key before works on. Milliseconds. */
const GRACES: readonly (readonly [number, string])[] = [
  [0, "not at all"],
  [HOUR, "1 hour"],
  [DAY, "24 hours"],
  [7 * DAY, "7 days"],
  [30 * DAY, "30 days"],
];

export function RotateDialog({ entry, onClose, onMade }: Props & { onMade: (created: CreatedKey) => void }) {
  const [grace, setGrace] = useState(DAY);
  const { busy, error, run } = useWrite<CreatedKey>();
  const rotate = async () => {
    const created = await run("POST", `${pathOf(entry)}/rotate`, {
      body: { graceMs: grace },
      version: entry.version,
    });
    if (created) onMade(created);
  };
  return (
    <Dialog label={`Rotate ${entry.name}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy) void rotate();
        }}
      >
        <h2>Rotate {entry.name}</h2>
        <p>It gets a new text, which is shown once. Name, path, budgets and sums stay.</p>
        <Field label={`The old text ${entry.hint ?? ""} works on for`}>
          <select
            class="select"
            value={grace}
            onChange={(event) => setGrace(Number(event.currentTarget.value))}
            data-first
          >
            {GRACES.map(([ms, text]) => (
              <option key={ms} value={ms}>
                {text}
              </option>
            ))}
          </select>
        </Field>
        {grace === 0 && (
          <p class="c-warn" role="status">
            Clients that still have the old text are refused at once.
          </p>
        )}
        {error && (
          <p class="c-bad" role="alert">
            {error.message}
          </p>
        )}
        <div class="end">
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button kind="main" type="submit" disabled={busy}>
            Rotate
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function RevokeDialog({ entry, onClose, onDone }: Props & { onDone: () => void }) {
  const [cut, setCut] = useState(false);
  const [from] = useState(() => Math.floor((Date.now() - DAY) / HOUR) * HOUR);
  const running = useApi<RunningCalls>("/calls/running");
  const day = useApi<UsageReport>(`/usage${queryOf({ from, key: entry.id })}`);
  const { busy, error, run } = useWrite<Key>();
  const now = running.data?.calls.filter(({ key }) => key === entry.id).length;
  const revoke = async () => {
    const done = await run("DELETE", `${pathOf(entry)}?cut=${cut}`, { version: entry.version });
    if (!done) return;
    toast(`${entry.name} revoked. In force in all workers.`);
    onDone();
  };
  return (
    <Confirm
      title={`Revoke ${entry.name}?`}
      deed={`Revoke ${entry.name}`}
      busy={busy}
      error={error?.message}
      onDo={() => void revoke()}
      onClose={onClose}
    >
      <p>
        {now !== undefined && now > 0 && (
          <>
            <b>{now === 1 ? "1 call runs" : `${whole(now)} calls run`}</b> with this key;{" "}
            {cut ? "they are cut off. " : "they go on. "}
          </>
        )}
        {now === 0 && "No call runs with it. "}
        {day.data && day.data.total.calls > 0 && (
          <>
            It made <b>{whole(day.data.total.calls)} calls</b> in the last 24 h; such calls will be
            refused.{" "}
          </>
        )}
        {day.data?.total.calls === 0 && "It made no call in the last 24 h. "}A revoked key cannot be brought
        back. Its calls and sums stay.
      </p>
      <label class="mark">
        <input type="checkbox" checked={cut} onChange={(event) => setCut(event.currentTarget.checked)} />
        also cut off the calls that run
      </label>
    </Confirm>
  );
}
