/** The dialog that changes a key, with the limit and the budget of its own. */
import { useEffect, useState } from "preact/hooks";
import { get } from "../../data/api.ts";
import type { Budget, Key, Rate } from "../../data/types.ts";
import { useWrite } from "../../data/use-write.ts";
import { FormDialog } from "../../parts/form.tsx";
import { toast } from "../../parts/toasts.tsx";
import { draftOf, faultsOf, merged, type Parts, type Step, stepsOf } from "./key-draft.ts";
import { KeyFields } from "./key-fields.tsx";
import { ratesOf } from "./key-words.ts";
import type { KeysOverview } from "./overview.ts";

interface Props {
  entry: Key;
  overview: KeysOverview;
  onClose: () => void;
  onDone: () => void;
}

export function EditKeyDialog({ entry, overview, onClose, onDone }: Props) {
  const { options } = overview;
  // What the form began from; of a step that was done, and after a conflict, what is there now.
  const [parts, setParts] = useState<Parts>(() => partsOf(entry, overview));
  const [draft, setDraft] = useState(() => draftOf(parts, options));
  const [changes, setChanges] = useState<readonly string[]>();
  const { busy, error, run } = useWrite<Key | Rate | Budget | { deleted: boolean }>();
  const was = draftOf(parts, options);
  const steps = stepsOf(parts, draft, options, Date.now());
  const isLate = error?.status === 412;
  useEffect(() => {
    if (!isLate) return;
    readParts(parts).then(
      (theirs) => {
        const next = merged(draft, was, draftOf(theirs, options));
        setParts(theirs);
        setDraft(next.draft);
        setChanges(next.changes);
      },
      () => undefined,
    );
  }, [isLate, error]);

  const save = async () => {
    let now = parts;
    for (const step of steps) {
      const { of, method, to, ...rest } = step;
      const answer = await run(method, to, rest);
      if (!answer) return;
      now = { ...now, [of]: method === "DELETE" ? undefined : answer };
      // A later step may fail: then only what is missing is sent again.
      setParts(now);
    }
    toast(`${now.key.name}: in force in all workers.`);
    onDone();
  };
  const isWithout = (of: Step["of"]) => steps.some((step) => step.of === of && step.method === "DELETE");
  return (
    <FormDialog
      title={`Edit ${entry.name}`}
      deed="Save"
      ready={
        steps.length > 0 &&
        draft.name.trim() !== "" &&
        Object.keys(faultsOf(draft, was, Date.now())).length === 0
      }
      {...{ busy, onClose }}
      error={isLate ? undefined : error}
      onDo={save}
    >
      <KeyFields {...{ draft, was, options }} isCall={entry.kind === "call"} onChange={setDraft} />
      {changes && (
        <div class="note warn" role="alert">
          <span>
            <b>This key was changed meanwhile.</b> {changes.join(". ")}. What you wrote is kept; save again to
            put it in place.
          </span>
        </div>
      )}
      {isWithout("budget") && <p class="c-warn">Its own budget is deleted.</p>}
    </FormDialog>
  );
}

function partsOf(key: Key, { rates, budgets }: Pick<KeysOverview, "rates" | "budgets">): Parts {
  const own = budgets.find(
    ({ budget: { on, source } }) => source === "store" && on.kind === "key" && on.what === key.id,
  );
  return {
    key,
    rate: ratesOf(rates, key.id).find(({ source }) => source === "store"),
    budget: own?.budget,
  };
}

/** The same three as they are now. @throws ApiError */
async function readParts({ key, rate, budget }: Parts): Promise<Parts> {
  const read = <One,>(path: string, one: { id: string } | undefined) =>
    one ? get<One>(`${path}/${encodeURIComponent(one.id)}`) : undefined;
  const [newKey, newRate, newBudget] = await Promise.all([
    get<Key>(`/keys/${encodeURIComponent(key.id)}`),
    read<Rate>("/rates", rate),
    read<Budget>("/budgets", budget),
  ]);
  return { key: newKey, rate: newRate, budget: newBudget };
}
