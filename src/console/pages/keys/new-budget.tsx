/** The dialog that makes a budget. */
import { useEffect, useState } from "preact/hooks";
import { queryOf } from "../../data/api.ts";
import { knownNames } from "../../data/names.ts";
import type { Budget, Names, NewBudget, summarizeCalls } from "../../data/types.ts";
import { useApi } from "../../data/use-api.ts";
import { counted } from "../../numbers/counts.ts";
import { FormDialog, SelectField, Suggestions, TextField } from "../../parts/form.tsx";
import { toast } from "../../parts/toasts.tsx";
import { AMOUNT_FORM, amountWords, readAmount, type Subject } from "./budget-words.ts";
import { useWrite } from "../../data/use-write.ts";
import { nameFault } from "./key-words.ts";

type Kind = Subject["kind"];

const KINDS: readonly (readonly [Kind, string])[] = [
  ["all", "every call"],
  ["path", "a path"],
  ["key", "a key"],
  ["model", "a model"],
  ["provider", "a provider"],
  ["tag", "a tag"],
  ["session", "each session by itself"],
];

const MODES = {
  hard: "the most that a call can cost must be left",
  soft: "anything must be left",
  watch: "it only counts",
};

export function NewBudgetDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Kind>("all");
  const [what, setWhat] = useState("");
  const [amount, setAmount] = useState("");
  const [instead, setInstead] = useState("");
  const { busy, error, run } = useWrite<Budget>();
  const read = readAmount(amount);
  const needsWhat = kind !== "all" && kind !== "session";
  const make = async () => {
    const body: NewBudget = {
      name: name.trim(),
      on: { kind, what: needsWhat ? what.trim() : "" },
      ...read!,
      ...(instead.trim() !== "" && { onEmpty: { use: instead.trim() } }),
    };
    const made = await run("POST", "/budgets", { body });
    if (!made) return;
    const [warning] = made.warnings ?? [];
    toast(warning ?? `${body.name} counts from now on.`);
    onDone();
  };
  return (
    <FormDialog
      title="New budget"
      deed="Create"
      ready={
        name.trim() !== "" &&
        !nameFault(name, true) &&
        read !== undefined &&
        (!needsWhat || what.trim() !== "")
      }
      {...{ busy, error, onClose }}
      onDo={make}
    >
      <TextField label="Name" value={name} onChange={setName} error={nameFault(name, true)} data-first />
      <div class="two">
        <SelectField label="Counts" options={KINDS} value={kind} onChange={setKind} />
        {needsWhat && (
          <TextField
            label="Which"
            value={what}
            onChange={setWhat}
            list="subjects"
            hint={<Counts kind={kind} what={what.trim()} />}
          />
        )}
      </div>
      <TextField
        label="Limit, window, mode"
        value={amount}
        onChange={setAmount}
        placeholder="$500 a month, hard"
        error={amount !== "" && !read ? AMOUNT_FORM : undefined}
        hint={read && `${amountWords(read)}: ${MODES[read.mode]}`}
      />
      <TextField
        label="When it is empty, use this model"
        value={instead}
        onChange={setInstead}
        placeholder="none: refuse"
      />
      <Suggestions id="subjects" of={suggestions(kind, knownNames())} />
    </FormDialog>
  );
}

const DAY = 86_400_000;
/** Wait for the end of the typing. Milliseconds. */
const PAUSE = 300;

/** How many calls the budget would have counted: a name that is mistyped counts none. */
function Counts({ kind, what }: { kind: Kind; what: string }) {
  const [asked, setAsked] = useState("");
  const [from] = useState(() => Math.floor((Date.now() - 30 * DAY) / DAY) * DAY);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(what), PAUSE);
    return () => clearTimeout(timer);
  }, [what]);
  const { data, error } = useApi<typeof summarizeCalls>(
    asked === "" ? undefined : `/calls/summary${queryOf({ from, [kind]: asked, slices: 1 })}`,
  );
  if (asked === "" || asked !== what) return null;
  const { calls = 0 } = data ?? {};
  if (error || (data && calls === 0))
    return <span class="c-warn">No call of the last 30 days matches it.</span>;
  return data ? <>counts {counted(calls, "call")} of the last 30 days</> : null;
}

function suggestions(kind: Kind, known: Names | undefined): readonly string[] {
  if (!known || kind === "all" || kind === "session") return [];
  if (kind === "key")
    return known.keys.filter((key) => key.kind === "call" && !key.gone).map(({ name }) => name);
  return kind === "model" ? known.models.map((model) => `*/${model}`) : known[`${kind}s`];
}
