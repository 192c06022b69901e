/** The fields of a key: of the form that makes one, and of the form that changes one. */
import { knownNames } from "../../data/names.ts";
import type { KeyField } from "../../data/types.ts";
import { moment } from "../../numbers/times.ts";
import { Suggestions, TextField } from "../../parts/form.tsx";
import { amountWords, readAmount } from "./budget-words.ts";
import { type Draft, faultsOf, type Field, LABELS, UNITS } from "./key-draft.ts";
import { readEnd } from "./key-words.ts";

const EMPTY: Readonly<Partial<Record<Field, string>>> = {
  tags: "none",
  models: "all",
  maxCost: "no limit",
  amount: "$50 a month, hard",
  ends: "never",
};

interface Props {
  draft: Draft;
  /** The texts at first: a field that still has its text is not at fault. */
  was: Draft;
  options: readonly KeyField[];
  /** Whether the key makes calls: others have no limits. */
  isCall: boolean;
  onChange: (draft: Draft) => void;
}

export function KeyFields({ draft, was, options, isCall, onChange }: Props) {
  const faults = faultsOf(draft, was, Date.now());
  const budget = readAmount(draft.amount);
  const end = draft.ends === was.ends ? undefined : readEnd(draft.ends, Date.now())?.expiresAt;
  const field = (name: Field, more: Partial<Parameters<typeof TextField>[0]> = {}) => (
    <TextField
      label={LABELS[name]}
      value={draft[name]}
      onChange={(text) => onChange({ ...draft, [name]: text })}
      placeholder={EMPTY[name] ?? ""}
      error={faults[name]}
      {...more}
    />
  );
  const ends = field("ends", { hint: end && `refused from ${moment(end)} on` });
  return (
    <>
      <div class="two">
        {field("name", { "data-first": true })}
        {field("path", { class: "mono", list: "paths" })}
      </div>
      {isCall && (
        <>
          <div class="two">
            {field("models")}
            {field("tags")}
          </div>
          <div class="two three">
            {UNITS.map(([unit]) => field(unit, { placeholder: "no limit", inputMode: "numeric" }))}
          </div>
          {options.map(({ name, label }) => {
            const member = `option ${name}` as const;
            return (
              <TextField
                key={name}
                label={label}
                value={draft[member] ?? ""}
                onChange={(text) => onChange({ ...draft, [member]: text })}
              />
            );
          })}
          <div class="two">
            {field("amount", { hint: budget && amountWords(budget) })}
            {field("maxCost", { inputMode: "decimal" })}
          </div>
        </>
      )}
      <div class="two">
        {ends}
        {!isCall && field("tags")}
      </div>
      <Suggestions id="paths" of={knownNames()?.paths ?? []} />
    </>
  );
}
