/** The dialog that makes a key. */
import { useState } from "preact/hooks";
import type { CreatedKey, KeyField } from "../../data/types.ts";
import { useWrite } from "../../data/use-write.ts";
import { Segments } from "../../parts/controls.tsx";
import { FormDialog } from "../../parts/form.tsx";
import { budgetsOver, limitDollars } from "./budget-words.ts";
import { emptyDraft, faultsOf, newKeyOf } from "./key-draft.ts";
import { KeyFields } from "./key-fields.tsx";
import type { BudgetState } from "./overview.ts";

interface Props {
  /** Where the key is at first. */
  path: string;
  budgets: readonly BudgetState[];
  options: readonly KeyField[];
  onClose: () => void;
  onMade: (created: CreatedKey) => void;
}

type Kind = "call" | "admin" | "read";

const KINDS: readonly (readonly [Kind, string])[] = [
  ["call", "Makes calls"],
  ["read", "Reads here"],
  ["admin", "Changes here"],
];

/** Fields that keys of every kind have. */
const isOfAny = (field: string) => field === "name" || field === "ends";

export function NewKeyDialog({ path: usual, budgets, options, onClose, onMade }: Props) {
  const [kind, setKind] = useState<Kind>("call");
  const [draft, setDraft] = useState(() => emptyDraft(usual));
  const { busy, error, run } = useWrite<CreatedKey>();
  const was = emptyDraft(usual);

  const isCall = kind === "call";
  const where = draft.path.trim() || "/";
  const faults = Object.keys(faultsOf(draft, was, Date.now()));
  const isReady = draft.name.trim() !== "" && (isCall ? faults : faults.filter(isOfAny)).length === 0;
  const make = async () => {
    const created = await run("POST", "/keys", { body: newKeyOf(draft, kind, options, Date.now()) });
    if (created) onMade(created);
  };

  return (
    <FormDialog title="New key" deed="Create" ready={isReady} {...{ busy, error, onClose }} onDo={make}>
      <Segments label="What the key does" options={KINDS} value={kind} onChoose={setKind} />
      <KeyFields {...{ draft, was, options, isCall }} onChange={setDraft} />
      <p class="mid">
        {isCall ? <FallsUnder path={where} budgets={budgets} /> : REACH[kind] + reachOf(where)}
      </p>
    </FormDialog>
  );
}

/** The budgets that will count the calls of the key. */
function FallsUnder({ path, budgets }: { path: string; budgets: readonly BudgetState[] }) {
  const over = budgetsOver(
    budgets.map((state) => ({ ...state, on: state.budget.on })),
    { path },
  );
  if (over.length === 0) return <>No other budget counts its calls.</>;
  return (
    <>
      Falls under{" "}
      {over.map(({ budget, window }, index) => (
        <span key={budget.id}>
          {index > 0 && (index === over.length - 1 ? " and " : ", ")}
          <b>{budget.name}</b> ({limitDollars(Math.max(0, window.left))} left)
        </span>
      ))}
      .
    </>
  );
}

const REACH = {
  admin: "Makes and revokes keys, and sets budgets and limits",
  read: "Sees calls, sums, keys and budgets, but no bodies, and changes nothing",
};

const reachOf = (path: string) =>
  `: on ${path === "/" ? "the whole gateway" : `${path} and below`}. It makes no calls.`;
