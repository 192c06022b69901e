/** The dialog that makes a key. */
import { useState } from "preact/hooks";
import { knownNames } from "../../data/names.ts";
import type { CreatedKey, KeyField, NewKey } from "../../data/types.ts";
import { moment } from "../../numbers/times.ts";
import { Segments } from "../../parts/controls.tsx";
import { FormDialog, Suggestions, TextField } from "../../parts/form.tsx";
import { AMOUNT_FORM, amountWords, budgetsOver, limitDollars, readAmount } from "./budget-words.ts";
import { nameFault, readCount, readEnd, readList, readOption } from "./key-words.ts";
import type { BudgetState } from "./overview.ts";
import { useWrite } from "../../data/use-write.ts";

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

export function NewKeyDialog({ path: usual, budgets, options, onClose, onMade }: Props) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Kind>("call");
  const [path, setPath] = useState(usual);
  const [models, setModels] = useState("");
  const [rate, setRate] = useState("");
  const [amount, setAmount] = useState("");
  const [ends, setEnds] = useState("");
  /** The texts of the options' fields. */
  const [given, setGiven] = useState<Readonly<Record<string, string>>>({});
  const { busy, error, run } = useWrite<CreatedKey>();

  const isCall = kind === "call";
  const where = path.trim() || "/";
  const wanted = readList(models);
  const budget = readAmount(amount);
  const rpm = readCount(rate);
  const end = readEnd(ends, Date.now());
  const badAmount = isCall && amount.trim() !== "" && !budget;
  const badRate = isCall && rate.trim() !== "" && !rpm;

  const scopes = {
    ...(wanted && { models: wanted }),
    ...Object.fromEntries(
      options
        .filter(({ name }) => given[name]?.trim())
        .map(({ name, type }) => [name, readOption(type, given[name]!)]),
    ),
  };

  const make = async () => {
    const forCalls = {
      scopes,
      ...(budget && { budget }),
      ...(rpm && { rates: { rpm } }),
    };
    const body: NewKey = { name: name.trim(), kind, path: where, ...end, ...(isCall && forCalls) };
    const created = await run("POST", "/keys", { body });
    if (created) onMade(created);
  };

  return (
    <FormDialog
      title="New key"
      deed="Create"
      ready={name.trim() !== "" && !nameFault(name) && !badAmount && !badRate && end !== undefined}
      {...{ busy, error, onClose }}
      onDo={make}
    >
      <Segments label="What the key does" options={KINDS} value={kind} onChoose={setKind} />
      <div class="two">
        <TextField label="Name" value={name} onChange={setName} error={nameFault(name)} data-first />
        <TextField label="Path" class="mono" value={path} onChange={setPath} list="paths" />
      </div>
      {isCall && (
        <div class="two">
          <TextField label="May use models" value={models} onChange={setModels} placeholder="all" />
          <TextField
            label="Calls a minute"
            value={rate}
            onChange={setRate}
            placeholder="no limit"
            inputMode="numeric"
            error={badRate ? "A whole number." : undefined}
          />
        </div>
      )}
      {isCall &&
        options.map(({ name, label }) => (
          <TextField
            label={label}
            value={given[name] ?? ""}
            onChange={(text) => setGiven({ ...given, [name]: text })}
          />
        ))}
      <div class="two">
        {isCall && (
          <TextField
            label="Budget"
            value={amount}
            onChange={setAmount}
            placeholder="$50 a month, hard"
            error={badAmount ? AMOUNT_FORM : undefined}
            hint={budget && amountWords(budget)}
          />
        )}
        <TextField
          label="Ends"
          value={ends}
          onChange={setEnds}
          placeholder="never"
          error={end ? undefined : "Write never, 30 d, or a date to come like 2027-03-31."}
          hint={end?.expiresAt && `refused from ${moment(end.expiresAt)} on`}
        />
      </div>
      <Suggestions id="paths" of={knownNames()?.paths ?? []} />
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
