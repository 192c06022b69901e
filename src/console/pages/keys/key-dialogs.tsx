/** The dialogs of one key: rotate and revoke. */
import type { CreatedKey, Key, runningCalls, usage } from "../../data/types.ts";
import { useState } from "preact/hooks";
import { useApi } from "../../data/use-api.ts";
import { whole } from "../../numbers/counts.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { FormDialog, SelectField } from "../../parts/form.tsx";
import { toast } from "../../parts/toasts.tsx";
import { queryOf } from "../../data/api.ts";
import { useWrite } from "../../data/use-write.ts";

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
    <FormDialog title={`Rotate ${entry.name}`} deed="Rotate" {...{ busy, error, onClose }} onDo={rotate}>
      <p>It gets a new text, which is shown once. Name, path, budgets and sums stay.</p>
      <SelectField
        label={`The old text ${entry.hint ?? ""} works on for`}
        options={GRACES}
        value={grace}
        onChange={setGrace}
      />
      {grace === 0 && <p class="c-warn">Clients that still have the old text are refused at once.</p>}
    </FormDialog>
  );
}

export function RevokeDialog({ entry, onClose, onDone }: Props & { onDone: () => void }) {
  const [cut, setCut] = useState(false);
  const [from] = useState(() => Math.floor((Date.now() - DAY) / HOUR) * HOUR);
  const running = useApi<typeof runningCalls>("/calls/running");
  const day = useApi<typeof usage>(`/usage${queryOf({ from, key: entry.id })}`);
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
