/** Tasks for the operator: at most three sentences, the worst first. */
import { useEffect, useState } from "preact/hooks";
import { hrefOf } from "../../data/location.ts";
import { setTrouble } from "../../data/status.ts";
import type { Note as NoteEntry } from "../../data/types.ts";
import { Button } from "../../parts/controls.tsx";
import { Note } from "../../parts/panel.tsx";

const SHOWN = 3;

type Kind = NoteEntry["kind"];

/** `[words, address]` of what one can do, by the kind of a note. */
const ACTS: Readonly<Record<Kind, (subject: string) => readonly (readonly [string, string])[]>> = {
  store: () => [["Store", hrefOf("/store")]],
  books: () => [["The proof", hrefOf("/store")]],
  "budget-empty": (budget) => [
    ["Raise it", hrefOf("/keys", { raise: budget })],
    ["Who was refused", hrefOf("/calls", { fact: `rule:${budget}` })],
  ],
  "budget-low": (budget) => [["Raise it", hrefOf("/keys", { raise: budget })]],
  "budget-refusals": () => [["Who was refused", hrefOf("/calls", { refused: "budget" })]],
  deployment: (name) => [
    ["Provider", hrefOf("/providers", { open: name })],
    ["Its failed calls", hrefOf("/calls", { tried: `failed@${name}` })],
  ],
  "no-key": (name) => [["Provider", hrefOf("/providers", { open: name })]],
  unpriced: (model) => [
    ["Add a price", hrefOf("/prices", { missing: model })],
    ["Calls", hrefOf("/calls", { state: "unpriced" })],
  ],
  "prices-old": () => [["Prices", hrefOf("/prices")]],
  "closed-budgets": () => [["Store", hrefOf("/store")]],
  "config-changed": () => [["Config", hrefOf("/config")]],
  "model-ends": (model) => [
    ["Models", hrefOf("/prices")],
    ["Calls", hrefOf("/calls", { model: model.slice(model.indexOf("/") + 1) })],
  ],
};

export function Notes({ notes }: { notes: readonly NoteEntry[] }) {
  const [all, setAll] = useState(false);
  useEffect(() => {
    const empty = notes.filter(({ kind }) => kind === "budget-empty").length;
    const down = notes.filter(({ kind }) => kind === "deployment").length;
    setTrouble("/keys", empty === 0 ? undefined : `${empty} empty`);
    setTrouble("/providers", down === 0 ? undefined : `${down} down`);
  }, [notes]);
  if (notes.length === 0) return null;
  const more = notes.length - SHOWN;
  return (
    <div class="notes">
      {(all ? notes : notes.slice(0, SHOWN)).map(({ kind, level, text, subject = "", acts = [] }) => (
        <Note
          key={`${kind} ${subject}`}
          state={level}
          acts={[...ACTS[kind](subject), ...acts.map(({ words, at }) => [words, hrefOf(at)] as const)].map(
            ([words, href]) => (
              <a key={words} href={href}>
                {words}
              </a>
            ),
          )}
        >
          <Sentence text={text} subject={subject} />
        </Note>
      ))}
      {!all && more > 0 && (
        <div>
          <Button kind="quiet" onClick={() => setAll(true)}>
            {more} more
          </Button>
        </div>
      )}
    </div>
  );
}

/** The sentence with its subject in bold, if it begins with it. */
function Sentence({ text, subject }: { text: string; subject: string }) {
  if (subject === "" || !text.startsWith(subject)) return <>{text}</>;
  return (
    <>
      <b>{subject}</b>
      {text.slice(subject.length)}
    </>
  );
}
