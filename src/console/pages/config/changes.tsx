/** The file on the disk differs from what runs: the difference, and the reload. */
import { useState } from "preact/hooks";
import { readOnly } from "../../data/session.ts";
import type { EffectiveConfig, Reloaded } from "../../data/types.ts";
import { useWrite } from "../../data/use-write.ts";
import { counted } from "../../numbers/counts.ts";
import { Button, Fault } from "../../parts/controls.tsx";
import { Diff } from "../../parts/diff.tsx";
import { FormDialog } from "../../parts/form.tsx";
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
  const { busy, error, run } = useWrite<Reloaded>();
  const [fault, setFault] = useState(config.fault);
  const restart = config.changes.filter(({ needsRestart }) => needsRestart);
  const atOnce = config.changes.length - restart.length;
  const reload = async () => {
    const reloaded = await run("POST", "/config/reload");
    if (!reloaded) return;
    if (!reloaded.ok) return setFault(reloaded.message);
    toast(reloaded.message);
    onDone();
    onClose();
  };
  return (
    <FormDialog
      title="Reload the configuration"
      deed="Reload"
      busy={busy}
      error={error}
      onDo={reload}
      onClose={onClose}
    >
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
      <Fault of={fault} />
    </FormDialog>
  );
}
