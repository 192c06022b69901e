/** The dialogs of budgets: another limit, and a new budget. */
import { useState } from "preact/hooks";
import { ApiError, get } from "../../data/api.ts";
import { knownNames } from "../../data/names.ts";
import type { Budget, NewBudget } from "../../data/types.ts";
import { dollars, readDollars } from "../../numbers/money.ts";
import { BudgetBar } from "../../parts/budget-bar.tsx";
import { Button, Field } from "../../parts/controls.tsx";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { toast } from "../../parts/toasts.tsx";
import { readAmount, type Subject, windowWords } from "./budget-words.ts";
import type { BudgetState } from "./overview.ts";
import { faultOf, useWrite } from "./use-write.ts";

const pathOf = ({ id }: Pick<Budget, "id">) => `/budgets/${encodeURIComponent(id)}`;

interface LimitProps {
  state: BudgetState;
  onClose: () => void;
  onDone: () => void;
}

/** Another limit for a budget. A lower one is a change, not a raise; both are in force at once. */
export function LimitDialog({ state, onClose, onDone }: LimitProps) {
  const { budget, window, level } = state;
  const [text, setText] = useState(dollars(Math.round((budget.limit * 1.2) / 1e7) * 1e7 || 1e9));
  const [theirs, setTheirs] = useState<Budget>();
  const [isDeleting, setDeleting] = useState(false);
  const { busy, error, run } = useWrite<Budget>();
  const remove = useWrite<unknown>();
  const limit = readDollars(text);
  const isLower = limit !== undefined && limit < budget.limit;

  const save = async (version = budget.version) => {
    if (limit === undefined) return;
    const [method, to] = isLower
      ? (["PATCH", pathOf(budget)] as const)
      : (["POST", `${pathOf(budget)}/raise`] as const);
    const saved = await run(method, to, { body: { limit }, version });
    if (!saved) return;
    toast(`“${budget.name}” ${isLower ? "lowered" : "raised"}. In force in all workers.`);
    onDone();
  };
  const compare = async () => {
    const now = await get<Budget>(pathOf(budget)).catch((cause: unknown) =>
      cause instanceof ApiError ? undefined : Promise.reject(cause),
    );
    setTheirs(now);
  };
  const deleteIt = async () => {
    if (!(await remove.run("DELETE", pathOf(budget), { version: theirs?.version ?? budget.version }))) return;
    toast(`“${budget.name}” deleted.`);
    onDone();
  };

  if (isDeleting)
    return (
      <Confirm
        title={`Delete “${budget.name}”?`}
        deed={`Delete ${budget.name}`}
        busy={remove.busy}
        error={remove.error?.message}
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
    <Dialog label={`Raise “${budget.name}”`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (limit !== undefined && !busy) void save(theirs?.version);
        }}
      >
        <h2>Raise “{budget.name}”</h2>
        <BudgetBar big {...window} level={level} limit={budget.limit} alerts={budget.alerts} />
        <p class="mid">
          {dollars(window.spent + window.assumed)} of {dollars(budget.limit)} {windowWords(budget.window)} are
          booked.
        </p>
        <Field
          label="New limit"
          error={limit === undefined ? "Write it like $600." : faultOf(error, "/limit")}
        >
          <input
            class="input"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            inputMode="decimal"
            data-first
          />
        </Field>
        {isLower && (
          <p class="c-warn">This is lower than {dollars(budget.limit)}; it refuses from the next call on.</p>
        )}
        {error?.status === 412 && !theirs && <Changed onCompare={() => void compare()} onTheirs={onDone} />}
        {theirs && (
          <div class="note warn" role="alert">
            <span>
              <b>Somebody changed this budget meanwhile:</b> its limit is now {dollars(theirs.limit)}, its
              mode {theirs.mode}. Send again to put {limit !== undefined && dollars(limit)} over it.
            </span>
          </div>
        )}
        {error && error.status !== 412 && error.path === undefined && (
          <p class="c-bad" role="alert">
            {error.message}
          </p>
        )}
        <p class="mid">In force within a second, and for good. Written to the audit log under your name.</p>
        <div class="end">
          <Button kind="danger" class="first-of-end" onClick={() => setDeleting(true)}>
            Delete…
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button kind="main" type="submit" disabled={limit === undefined || busy}>
            {theirs ? "Put mine over it" : isLower ? "Lower" : "Raise"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Changed({ onCompare, onTheirs }: { onCompare: () => void; onTheirs: () => void }) {
  return (
    <div class="note warn" role="alert">
      <span>
        <b>Somebody changed this budget meanwhile.</b>
      </span>
      <span class="acts">
        <Button kind="quiet" onClick={onTheirs}>
          Use theirs
        </Button>
        <Button kind="quiet" onClick={onCompare}>
          Compare
        </Button>
      </span>
    </div>
  );
}

const KINDS: readonly (readonly [Subject["kind"], string])[] = [
  ["all", "every call"],
  ["path", "a path"],
  ["key", "a key"],
  ["model", "a model"],
  ["provider", "a provider"],
  ["tag", "a tag"],
  ["session", "each session by itself"],
];

const EXAMPLES: Partial<Record<Subject["kind"], string>> = {
  path: "/eng/agents",
  key: "ci-bot",
  model: "anthropic/claude-*",
  provider: "openai",
  tag: "experiment",
};

export function NewBudgetDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Subject["kind"]>("all");
  const [what, setWhat] = useState("");
  const [amount, setAmount] = useState("");
  const [instead, setInstead] = useState("");
  const { busy, error, run } = useWrite<Budget>();
  const read = readAmount(amount);
  const needsWhat = kind !== "all" && kind !== "session";
  const isReady = name.trim() !== "" && read !== undefined && (!needsWhat || what.trim() !== "");
  const make = async () => {
    if (!read) return;
    const body: NewBudget = {
      name: name.trim(),
      on: { kind, what: needsWhat ? what.trim() : "" },
      ...read,
      ...(instead.trim() !== "" && { onEmpty: { use: instead.trim() } }),
    };
    if (!(await run("POST", "/budgets", { body }))) return;
    toast(`“${body.name}” counts from now on.`);
    onDone();
  };
  return (
    <Dialog label="New budget" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !busy) void make();
        }}
      >
        <h2>New budget</h2>
        <Field label="Name" error={faultOf(error, "/name")}>
          <input
            class="input"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
            maxLength={64}
            placeholder="agents, month"
            data-first
            required
          />
        </Field>
        <div class="two">
          <Field label="Counts">
            <select
              class="select"
              value={kind}
              onChange={(event) => setKind(event.currentTarget.value as Subject["kind"])}
            >
              {KINDS.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </Field>
          {needsWhat && (
            <Field label="Which" error={faultOf(error, "/on")}>
              <input
                class="input"
                value={what}
                onInput={(event) => setWhat(event.currentTarget.value)}
                list="subjects"
                placeholder={EXAMPLES[kind] ?? ""}
                spellcheck={false}
                required
              />
            </Field>
          )}
        </div>
        <div class="two">
          <Field
            label="Limit, window, mode"
            error={
              amount !== "" && !read
                ? "Write it like $500 a month, hard."
                : faultOf(error, "/limit", "/window", "/mode")
            }
            hint={read && `${dollars(read.limit)} ${windowWords(read.window)}, ${MODES[read.mode]}`}
          >
            <input
              class="input"
              value={amount}
              onInput={(event) => setAmount(event.currentTarget.value)}
              placeholder="$500 a month, hard"
              required
            />
          </Field>
          <Field
            label="When it is empty, use"
            error={faultOf(error, "/onEmpty")}
            hint="a cheaper model; empty: refuse"
          >
            <input
              class="input"
              value={instead}
              onInput={(event) => setInstead(event.currentTarget.value)}
              placeholder="refuse"
              spellcheck={false}
            />
          </Field>
        </div>
        <datalist id="subjects">
          {suggestions(kind).map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
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

const MODES = {
  hard: "hard: the most that a call can cost must be left",
  soft: "soft: anything must be left",
  watch: "watch: only counted",
};

function suggestions(kind: Subject["kind"]): readonly string[] {
  const known = knownNames();
  if (!known) return [];
  switch (kind) {
    case "path":
      return known.paths;
    case "key":
      return known.keys.filter((key) => key.kind === "call" && !key.gone).map(({ name }) => name);
    case "model":
      return known.models.map((model) => `*/${model}`);
    case "provider":
      return known.providers;
    case "tag":
      return known.tags;
    default:
      return [];
  }
}
