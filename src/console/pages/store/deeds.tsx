/** Dialogs: a copy of the store, and deletions. */
import { useState } from "preact/hooks";
import type { Store } from "../../data/types.ts";
import { useWrite } from "../../data/use-write.ts";
import { bytes } from "../../numbers/bytes.ts";
import { counted } from "../../numbers/counts.ts";
import { FormDialog, TextField } from "../../parts/form.tsx";
import { toast } from "../../parts/toasts.tsx";

interface DeedProps {
  store: Store;
  onClose: () => void;
  onDone: () => void;
}

export function BackupDialog({ store, onClose, onDone }: DeedProps) {
  const [path, setPath] = useState(usualPlace(store));
  const { busy, error, run } = useWrite<{ path: string; bytes: number }>();
  const backUp = async () => {
    const copy = await run("POST", "/store/backup", { body: { path: path.trim() } });
    if (!copy) return;
    toast(`Copied to ${copy.path}, ${bytes(copy.bytes)}`);
    onDone();
    onClose();
  };
  return (
    <FormDialog
      title="Back up"
      deed={busy ? "Copying…" : `Copy ${bytes(store.bytes)}`}
      ready={path.trim().startsWith("/")}
      busy={busy}
      error={error}
      onDo={backUp}
      onClose={onClose}
    >
      <p class="mid">weir writes a consistent copy while calls run. The file must not exist.</p>
      <TextField
        label="File on the machine of the gateway"
        class="mono"
        data-first
        value={path}
        onChange={setPath}
      />
    </FormDialog>
  );
}

/** Beside the store, with the day: `/var/lib/weir/weir-2026-11-22.db`. */
function usualPlace({ kind, place }: Store): string {
  const day = new Date().toISOString().slice(0, 10);
  const folder = kind === "sqlite" && place.includes("/") ? place.slice(0, place.lastIndexOf("/")) : "/tmp";
  return `${folder}/weir-${day}.db`;
}

/** The word that one types before rows are deleted. */
const WORD = "delete";

export function PruneDialog({ store: { keep }, onClose, onDone }: DeedProps) {
  const [typed, setTyped] = useState("");
  const { busy, error, run } = useWrite<{ rows: number }>();
  const prune = async () => {
    const pruned = await run("POST", "/store/prune", { body: {} });
    if (!pruned) return;
    toast(pruned.rows === 0 ? "No row was older than kept" : `Deleted ${counted(pruned.rows, "row")}`);
    onDone();
    onClose();
  };
  return (
    <FormDialog
      title="Delete old rows"
      deed={busy ? "Deleting…" : "Delete old rows"}
      ready={typed === WORD}
      busy={busy}
      error={error}
      onDo={prune}
      onClose={onClose}
    >
      <p>
        Deletes now what weir would delete by itself within the hour
        {keep &&
          `: calls older than ${counted(keep.calls, "day")}, sums by hour older than ${counted(keep.hours, "day")}`}
        . Sums by day stay for ever, and what budgets have counted stays.
      </p>
      <TextField label={`Type “${WORD}”`} data-first value={typed} onChange={setTyped} />
    </FormDialog>
  );
}
