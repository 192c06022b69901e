/** The dialog that makes a key. */
import { useState } from "preact/hooks";
import { knownNames } from "../../data/names.ts";
import type { CreatedKey, NewKey } from "../../data/types.ts";
import { dollars } from "../../numbers/money.ts";
import { moment } from "../../numbers/times.ts";
import { Button, Field, Segments } from "../../parts/controls.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { budgetsOver, readAmount, windowWords } from "./budget-words.ts";
import { readEnd, readList } from "./key-words.ts";
import type { BudgetState } from "./overview.ts";
import { faultOf, useWrite } from "./use-write.ts";

interface Props {
  /** Where the key stands at first. */
  path: string;
  budgets: readonly BudgetState[];
  onClose: () => void;
  onMade: (created: CreatedKey) => void;
}

type Kind = "call" | "admin" | "read";

const KINDS: readonly (readonly [Kind, string])[] = [
  ["call", "Makes calls"],
  ["read", "Reads here"],
  ["admin", "Changes here"],
];

export function NewKeyDialog({ path: usual, budgets, onClose, onMade }: Props) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Kind>("call");
  const [path, setPath] = useState(usual);
  const [models, setModels] = useState("");
  const [rate, setRate] = useState("");
  const [amount, setAmount] = useState("");
  const [ends, setEnds] = useState("");
  const { busy, error, run } = useWrite<CreatedKey>();

  const budget = amount.trim() === "" ? undefined : readAmount(amount);
  const end = readEnd(ends, Date.now());
  const perMinute = rate.trim() === "" ? undefined : Number(rate.replaceAll(",", ""));
  const faults = {
    amount: amount.trim() !== "" && !budget ? "Write it like $50 a month, hard." : undefined,
    ends: end === undefined ? "Write never, 30 d, or a date to come like 2027-03-31." : undefined,
    rate:
      perMinute !== undefined && !(Number.isInteger(perMinute) && perMinute > 0)
        ? "A whole number."
        : undefined,
  };
  const isCall = kind === "call";
  const isReady = name.trim() !== "" && !(isCall && (faults.amount || faults.rate)) && !faults.ends;

  const make = async () => {
    const wanted = readList(models);
    const body: NewKey = {
      name: name.trim(),
      kind,
      path: path.trim() === "" ? "/" : path.trim(),
      ...end,
      ...(isCall && wanted && { scopes: { models: wanted } }),
      ...(isCall && budget && { budget }),
      ...(isCall && perMinute !== undefined && { rates: { rpm: perMinute } }),
    };
    const created = await run("POST", "/keys", { body });
    if (created) onMade(created);
  };

  return (
    <Dialog label="New key" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !busy) void make();
        }}
      >
        <h2>New key</h2>
        <Segments label="What the key does" options={KINDS} value={kind} onChoose={setKind} />
        <div class="two">
          <Field label="Name" error={faultOf(error, "/name")}>
            <input
              class="input"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
              maxLength={64}
              data-first
              required
            />
          </Field>
          <Field label="Path" error={faultOf(error, "/path")}>
            <input
              class="input mono"
              value={path}
              onInput={(event) => setPath(event.currentTarget.value)}
              list="paths"
              spellcheck={false}
            />
          </Field>
        </div>
        {isCall && (
          <div class="two">
            <Field label="May use models" error={faultOf(error, "/scopes")}>
              <input
                class="input"
                value={models}
                onInput={(event) => setModels(event.currentTarget.value)}
                placeholder="all"
                spellcheck={false}
              />
            </Field>
            <Field label="Calls a minute" error={faults.rate ?? faultOf(error, "/rates")}>
              <input
                class="input"
                value={rate}
                onInput={(event) => setRate(event.currentTarget.value)}
                placeholder="no limit"
                inputMode="numeric"
              />
            </Field>
          </div>
        )}
        <div class="two">
          {isCall && (
            <Field
              label="Budget"
              error={faults.amount ?? faultOf(error, "/budget")}
              hint={budget && readBack(budget)}
            >
              <input
                class="input"
                value={amount}
                onInput={(event) => setAmount(event.currentTarget.value)}
                placeholder="$50 a month, hard"
              />
            </Field>
          )}
          <Field
            label="Ends"
            error={faults.ends ?? faultOf(error, "/expiresAt")}
            hint={end?.expiresAt && `refused from ${moment(end.expiresAt)} on`}
          >
            <input
              class="input"
              value={ends}
              onInput={(event) => setEnds(event.currentTarget.value)}
              placeholder="never"
            />
          </Field>
        </div>
        <datalist id="paths">
          {(knownNames()?.paths ?? []).map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        {isCall ? (
          <FallsUnder path={path.trim() === "" ? "/" : path.trim()} budgets={budgets} />
        ) : (
          <Reach kind={kind} path={path} />
        )}
        {error && error.path === undefined && (
          <p class="c-bad" role="alert">
            {error.message}
          </p>
        )}
        <div class="end">
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button kind="main" type="submit" disabled={!isReady || busy}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function readBack({ limit, window, mode }: NonNullable<ReturnType<typeof readAmount>>): string {
  return `${dollars(limit)} ${windowWords(window)}, ${mode}`;
}

/** The budgets that will count the calls of the key. */
function FallsUnder({ path, budgets }: { path: string; budgets: readonly BudgetState[] }) {
  const over = budgetsOver(
    budgets.map((state) => ({ ...state, on: state.budget.on })),
    { path },
  );
  if (over.length === 0) return <p class="mid">No other budget counts its calls.</p>;
  return (
    <p class="mid">
      Falls under{" "}
      {over.map(({ budget, window }, index) => (
        <span key={budget.id}>
          {index > 0 && (index === over.length - 1 ? " and " : ", ")}
          <b>{budget.name}</b> ({dollars(Math.max(0, window.left))} left)
        </span>
      ))}
      {over.length > 1 ? " too." : "."}
    </p>
  );
}

function Reach({ kind, path }: { kind: Kind; path: string }) {
  const reach = path === "/" || path === "" ? "the whole gateway" : `${path} and below`;
  return (
    <p class="mid">
      {kind === "admin"
        ? "Makes and revokes keys, and sets budgets and limits"
        : "Sees calls, sums, keys and budgets, but no bodies, and changes nothing"}
      : on {reach}. It makes no calls.
    </p>
  );
}
