/** The dialog that makes a budget. */
import { useState } from "preact/hooks";
import { knownNames } from "../../data/names.ts";
import type { Budget, Names, NewBudget } from "../../data/types.ts";
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
    if (!(await run("POST", "/budgets", { body }))) return;
    toast(`${body.name} counts from now on.`);
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
        {needsWhat && <TextField label="Which" value={what} onChange={setWhat} list="subjects" />}
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

function suggestions(kind: Kind, known: Names | undefined): readonly string[] {
  if (!known || kind === "all" || kind === "session") return [];
  if (kind === "key")
    return known.keys.filter((key) => key.kind === "call" && !key.gone).map(({ name }) => name);
  return kind === "model" ? known.models.map((model) => `*/${model}`) : known[`${kind}s`];
}
