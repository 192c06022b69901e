/** Go to anything: pages, keys, paths, models, budgets, saved questions, actions, and a call by its id. */
import { useEffect, useState } from "preact/hooks";
import { get } from "../data/api.ts";
import { go } from "../data/location.ts";
import type { Names } from "../data/types.ts";
import { Dialog } from "../parts/dialog.tsx";
import { toast } from "../parts/toasts.tsx";
import { overlay } from "./shortcuts.ts";
import { PAGES } from "./pages.ts";
import { switchTheme } from "./theme.ts";
import { signOut } from "./who.tsx";

interface Entry {
  name: string;
  kind: string;
  run: () => void;
}

const ROWS = 9;

const to =
  (path: string, values = {}) =>
  () =>
    go(path, values);

const FIXED: readonly Entry[] = [
  ...PAGES.map(({ path, title }) => ({ name: title, kind: "page", run: to(path) })),
  { name: "Calls that failed", kind: "calls", run: to("/calls", { outcome: "failed" }) },
  { name: "Calls that were refused", kind: "calls", run: to("/calls", { refused: "any" }) },
  { name: "Calls with uncertain cost", kind: "calls", run: to("/calls", { state: "uncertain" }) },
  { name: "Calls without a price", kind: "calls", run: to("/calls", { state: "unpriced" }) },
  { name: "Calls slower than 5 s", kind: "calls", run: to("/calls", { flag: "slow" }) },
  { name: "New key", kind: "action", run: to("/keys", { new: "key" }) },
  { name: "New budget", kind: "action", run: to("/keys", { new: "budget" }) },
  {
    name: "Sign out",
    kind: "action",
    run: () => void signOut().catch(() => toast("You are still signed in: weir did not answer.")),
  },
  { name: "Light or dark", kind: "action", run: switchTheme },
];

function entriesOf(names: Names): Entry[] {
  return [
    ...names.keys.map(({ id, name }) => ({ name, kind: "key", run: to(`/keys/${id}`) })),
    ...names.paths.map((path) => ({ name: path, kind: "calls of this path", run: to("/calls", { path }) })),
    ...names.asked.map((name) => ({
      name,
      kind: "where this name goes",
      run: to("/playground", { model: name }),
    })),
    ...names.models.map((model) => ({
      name: model,
      kind: "calls of this model",
      run: to("/calls", { model }),
    })),
    ...names.providers.map((provider) => ({
      name: provider,
      kind: "provider",
      run: to("/providers", { open: provider }),
    })),
    ...names.budgets.map(({ id, name }) => ({ name, kind: "budget", run: to("/keys", { budget: id }) })),
  ];
}

/** Those that contain the text, those that begin with it first. */
export function matching<One extends { name: string }>(entries: readonly One[], text: string): One[] {
  const part = text.trim().toLowerCase();
  const places = entries.map((entry) => ({ entry, at: entry.name.toLowerCase().indexOf(part) }));
  const found = places.filter(({ at }) => at >= 0);
  return [...found.filter(({ at }) => at === 0), ...found.filter(({ at }) => at > 0)].map(
    ({ entry }) => entry,
  );
}

export function Palette() {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [named, setNamed] = useState<readonly Entry[]>([]);
  useEffect(() => {
    // Without an answer the pages are still there.
    get<Names>("/names").then(
      (names) => setNamed(entriesOf(names)),
      () => undefined,
    );
  }, []);
  const close = () => {
    overlay.value = undefined;
  };
  const id = text.trim();
  const hits: Entry[] = /^req_[\w-]+$/.test(id)
    ? [{ name: `Open ${id}`, kind: "call", run: to(`/calls/${id}`) }]
    : matching([...FIXED, ...named], text).slice(0, ROWS);
  const run = (entry: Entry | undefined) => {
    if (!entry) return;
    close();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setAt((at + step + hits.length) % Math.max(1, hits.length));
    else if (event.key === "Enter") run(hits[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Go to" class="pal" onClose={close}>
      <input
        data-first
        role="combobox"
        aria-expanded="true"
        aria-controls="hits"
        aria-label="Go to"
        {...(hits[at] && { "aria-activedescendant": `hit${at}` })}
        placeholder="Page, key, model, budget, or the id of a call"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul role="listbox" id="hits" aria-label="Matches">
        {hits.map((entry, index) => (
          <li
            key={`${entry.kind} ${entry.name}`}
            role="option"
            id={`hit${index}`}
            aria-selected={index === at}
            onClick={() => run(entry)}
          >
            <span class="clip">{entry.name}</span>
            <span class="dim">{entry.kind}</span>
          </li>
        ))}
        {hits.length === 0 && <li class="dim">Nothing has this name.</li>}
      </ul>
    </Dialog>
  );
}
