/** The dialog for another limit of a budget, or for its end. */
import { useEffect, useState } from "preact/hooks";
import { hrefOf } from "../../data/location.ts";
import { get } from "../../data/api.ts";
import type { Budget } from "../../data/types.ts";
import { dollars, readDollars } from "../../numbers/money.ts";
import { BudgetBar } from "../../parts/budget-bar.tsx";
import { Button } from "../../parts/controls.tsx";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { FormDialog, TextField } from "../../parts/form.tsx";
import { toast } from "../../parts/toasts.tsx";
import { limitDollars, windowWords } from "./budget-words.ts";
import type { BudgetState } from "./overview.ts";
import { useWrite } from "../../data/use-write.ts";

interface LimitProps {
  state: BudgetState;
  onClose: () => void;
  onDone: () => void;
}

export function LimitDialog(props: LimitProps) {
  return props.state.budget.source === "config" ? <Declared {...props} /> : <Limit {...props} />;
}

/** The config has this budget: where its limit is changed. */
function Declared({ state: { budget, window, level }, onClose }: LimitProps) {
  const path = `budgets.${budget.name}.limit`;
  return (
    <Dialog label={`Raise ${budget.name}`} onClose={onClose}>
      <div class="in">
        <h2>Raise {budget.name}</h2>
        <BudgetBar big {...window} level={level} limit={budget.limit} alerts={budget.alerts} />
        <p>
          The config file declares this budget. Change <code>{path}</code> there, {limitDollars(budget.limit)}{" "}
          now, and reload: the <a href={hrefOf("/config")}>page Config</a> shows the file and the change, and{" "}
          <code>weir reload</code> does the same.
        </p>
        <div class="end">
          <Button kind="quiet" data-first onClick={onClose}>
            Close
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** A lower limit is a change, not a raise; both are in force at once. */
function Limit({ state, onClose, onDone }: LimitProps) {
  const { budget, window, level } = state;
  const to = `/budgets/${encodeURIComponent(budget.id)}`;
  const [text, setText] = useState(limitDollars(Math.round((budget.limit * 1.2) / 1e7) * 1e7 || 1e9));
  // What another operator made of it meanwhile.
  const [theirs, setTheirs] = useState<Budget>();
  const [isDeleting, setDeleting] = useState(false);
  const { busy, error, run } = useWrite<Budget>();
  const limit = readDollars(text);
  const isLower = limit !== undefined && limit < (theirs ?? budget).limit;
  const { version } = theirs ?? budget;
  const isLate = error?.status === 412;
  useEffect(() => {
    if (isLate) get<Budget>(to).then(setTheirs, () => undefined);
  }, [isLate]);

  const save = async () => {
    const saved = isLower
      ? await run("PATCH", to, { body: { limit }, version })
      : await run("POST", `${to}/raise`, { body: { limit }, version });
    if (!saved) return;
    toast(
      `${budget.name}: ${limitDollars(saved.limit)} ${windowWords(saved.window)}, in force in all workers.`,
    );
    onDone();
  };
  const deleteIt = async () => {
    if (!(await run("DELETE", to, { version }))) return;
    toast(`${budget.name} deleted.`);
    onDone();
  };

  if (isDeleting)
    return (
      <Confirm
        title={`Delete ${budget.name}?`}
        deed={`Delete ${budget.name}`}
        busy={busy}
        error={error?.message}
        onDo={() => void deleteIt()}
        onClose={() => setDeleting(false)}
      >
        <p>
          {budget.mode === "watch" ? "Calls are no longer counted by it." : "It refuses no call any more."}{" "}
          {dollars(window.spent + window.assumed)} of its open window stay in the books.
        </p>
      </Confirm>
    );
  return (
    <FormDialog
      title={`Raise ${budget.name}`}
      deed={isLower ? "Lower" : "Raise"}
      ready={limit !== undefined}
      busy={busy}
      error={isLate ? undefined : error}
      onDo={save}
      onClose={onClose}
      other={
        <Button kind="danger" class="first-of-end" onClick={() => setDeleting(true)}>
          Delete…
        </Button>
      }
    >
      <BudgetBar big {...window} level={level} limit={budget.limit} alerts={budget.alerts} />
      <p class="mid">
        {dollars(window.spent + window.assumed)} of {limitDollars(budget.limit)} {windowWords(budget.window)}{" "}
        are booked.
      </p>
      <TextField
        label="New limit"
        value={text}
        onChange={setText}
        inputMode="decimal"
        data-first
        error={limit === undefined ? "Write it like $600." : undefined}
      />
      {theirs && (
        <div class="note warn" role="alert">
          <span>
            <b>This budget was changed meanwhile:</b> its limit is {limitDollars(theirs.limit)} now. Send
            again to put yours in its place.
          </span>
        </div>
      )}
      <p class={isLower ? "c-warn" : "mid"}>
        {isLower
          ? "This is lower than before; it refuses from the next call on."
          : "In force within a second, and for good."}{" "}
        The audit log has it under your name.
      </p>
    </FormDialog>
  );
}
