/** The file on the disk differs from what runs: the difference, and the reload. */
import { useState } from "preact/hooks";
import { ApiError, send } from "../../data/api.ts";
import { readOnly } from "../../data/session.ts";
import type { EffectiveConfig, Reloaded } from "../../data/types.ts";
import { counted } from "../../numbers/counts.ts";
import { Button } from "../../parts/controls.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Diff } from "../../parts/diff.tsx";
import { Panel } from "../../parts/panel.tsx";
import { toast } from "../../parts/toasts.tsx";
import { changeLines } from "./options.ts";

export function ChangesPanel({ config, onDone }: { config: EffectiveConfig; onDone: () => void }) {
  const [asking, setAsking] = useState(false);
  const { changes, file } = config;
  const name = file?.slice(file.lastIndexOf("/") + 1) ?? "The configuration";
  return (
    <Panel
      title={`${name} on disk differs from what runs`}
      right={
        <Button why={readOnly()} onClick={() => setAsking(true)}>
          Reload…
        </Button>
      }
    >
      <div class="body">
        <Diff lines={changeLines(changes)} label="What a reload would change" />
      </div>
      {asking && <ReloadDialog config={config} onClose={() => setAsking(false)} onDone={onDone} />}
    </Panel>
  );
}

function ReloadDialog(props: { config: EffectiveConfig; onClose: () => void; onDone: () => void }) {
  const { config, onClose, onDone } = props;
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | undefined>(config.fault);
  const restart = config.changes.filter(({ needsRestart }) => needsRestart);
  const atOnce = config.changes.length - restart.length;
  const reload = async () => {
    setBusy(true);
    try {
      const { ok, message } = await send<Reloaded>("POST", "/config/reload");
      if (ok) {
        toast(message);
        onDone();
        onClose();
        return;
      }
      setFault(message);
    } catch (cause) {
      setFault(cause instanceof ApiError ? cause.message : String(cause));
    }
    setBusy(false);
  };
  return (
    <Dialog label="Reload the configuration" onClose={onClose}>
      <div class="in">
        <h2>Reload the configuration</h2>
        <p>
          {atOnce === 0
            ? "Nothing changes at once. "
            : `${counted(atOnce, "option")} ${atOnce === 1 ? "holds" : "hold"} from the next call on. `}
          Calls that run go on with what they began with.
        </p>
        {restart.length > 0 && (
          <p class="c-warn">
            {restart.length === 1 ? "This one needs" : "These need"} a restart:{" "}
            {restart.map(({ path }) => path).join(", ")}.
          </p>
        )}
        {fault !== undefined && (
          <p class="c-bad" role="alert">
            {fault}
          </p>
        )}
        <div class="end">
          <Button kind="quiet" data-first onClick={onClose}>
            Cancel
          </Button>
          <Button kind="main" disabled={busy} onClick={() => void reload()}>
            Reload
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
