/** Dialogs: a copy of the store, and deletions. */
import { useState } from "preact/hooks";
import { ApiError, send } from "../../data/api.ts";
import type { Store } from "../../data/types.ts";
import { bytes } from "../../numbers/bytes.ts";
import { counted } from "../../numbers/counts.ts";
import { Button, Field } from "../../parts/controls.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { toast } from "../../parts/toasts.tsx";

interface DeedProps {
  store: Store;
  onClose: () => void;
  onDone: () => void;
}

export function BackupDialog({ store, onClose, onDone }: DeedProps) {
  const [path, setPath] = useState(usualPlace(store));
  const { busy, fault, run } = useDeed();
  const backUp = () =>
    run(async () => {
      const copy = await send<{ path: string; bytes: number }>("POST", "/store/backup", { body: { path } });
      toast(`Copied to ${copy.path}, ${bytes(copy.bytes)}`);
      onDone();
      onClose();
    });
  return (
    <Dialog label="Back up" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void backUp();
        }}
      >
        <h2>Back up</h2>
        <p class="mid">weir writes a consistent copy while calls run. The file must not exist.</p>
        <Field label="File on the machine of the gateway" error={fault}>
          <input
            class="input mono"
            data-first
            value={path}
            spellcheck={false}
            onInput={(event) => setPath(event.currentTarget.value.trim())}
          />
        </Field>
        <div class="end">
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button kind="main" type="submit" disabled={busy || !path.startsWith("/")}>
            {busy ? "Copying…" : `Copy ${bytes(store.bytes)}`}
          </Button>
        </div>
      </form>
    </Dialog>
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

export function PruneDialog({ store, onClose, onDone }: DeedProps) {
  const [typed, setTyped] = useState("");
  const { busy, fault, run } = useDeed();
  const prune = () =>
    run(async () => {
      const { rows } = await send<{ rows: number }>("POST", "/store/prune", { body: {} });
      toast(rows === 0 ? "No row was older than kept" : `Deleted ${counted(rows, "row")}`);
      onDone();
      onClose();
    });
  const { keep } = store;
  return (
    <Dialog label="Delete old rows" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === WORD) void prune();
        }}
      >
        <h2>Delete old rows</h2>
        <p>
          Deletes now what weir would delete by itself within the hour
          {keep &&
            `: calls older than ${counted(keep.calls, "day")}, sums by hour older than ${counted(keep.hours, "day")}`}
          . Sums by day stay for ever, and what budgets have counted stays.
        </p>
        <Field label={`Type “${WORD}”`} error={fault}>
          <input
            class="input"
            data-first
            value={typed}
            autocomplete="off"
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </Field>
        <div class="end">
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button kind="danger" type="submit" disabled={busy || typed !== WORD}>
            {busy ? "Deleting…" : "Delete old rows"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function useDeed() {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | undefined>(undefined);
  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    setFault(undefined);
    try {
      await work();
    } catch (cause) {
      setFault(cause instanceof ApiError ? cause.message : String(cause));
      setBusy(false);
    }
  };
  return { busy, fault, run };
}
