/** The page Keys & budgets: budgets with the fullest first, the tree of keys, one key beside it, and who was refused. */
import { useEffect, useState } from "preact/hooks";
import { go, hrefOf, query, setQuery } from "../../data/location.ts";
import { readOnly, session } from "../../data/session.ts";
import { setTrouble } from "../../data/status.ts";
import type { CreatedKey, Key } from "../../data/types.ts";
import { counted } from "../../numbers/counts.ts";
import { Button } from "../../parts/controls.tsx";
import { BudgetLegend } from "../../parts/budget-bar.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Blank, Loaded } from "../../parts/states.tsx";
import { onKey } from "../../shell/shortcuts.ts";
import { Page } from "../../shell/page.tsx";
import { BudgetCard, cardId } from "./budget-card.tsx";
import { EditKeyDialog } from "./edit-key.tsx";
import { RevokeDialog, RotateDialog } from "./key-dialogs.tsx";
import { type KeyDeed, KeyPanel } from "./key-panel.tsx";
import { LimitDialog } from "./limit-dialog.tsx";
import { NewBudgetDialog } from "./new-budget.tsx";
import { NewKeyDialog } from "./new-key.tsx";
import type { BudgetState, KeysOverview } from "./overview.ts";
import { Refused } from "./refused.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import { KeyTags, KeyTree } from "./tree.tsx";
import { useKeys } from "./use-keys.ts";

/** The dialog over the page. */
type Open =
  | { kind: "new-key"; path: string }
  | { kind: "new-budget" }
  | { kind: "limit"; state: BudgetState }
  | { kind: KeyDeed; entry: Key }
  | { kind: "secret"; created: CreatedKey; closes: boolean };

/** With an id in the path, the page of that key. */
export function KeysPage({ rest }: { rest: string }) {
  const showsRevoked = query.value["show"] === "revoked";
  const reading = useKeys({ revoked: showsRevoked || rest !== "" });
  // `?new=key`, `?new=budget`, `?raise=` and `?budget=` are links from the palette, from notes and from calls.
  const [open, setOpen] = useState<Open | undefined>();
  const { new: made, budget: shown } = query.value;
  useEffect(() => {
    if (made === "key") setOpen({ kind: "new-key", path: usualPath() });
    if (made === "budget") setOpen({ kind: "new-budget" });
  }, [made]);
  useEffect(() => {
    const card = shown === undefined ? null : document.getElementById(cardId(shown));
    card?.scrollIntoView({ block: "center" });
    // A dialog that closes gives the focus back first.
    setTimeout(() => card?.focus());
  }, [reading.data !== undefined, shown]);
  const raised = query.value["raise"];
  const toRaise = reading.data?.budgets.find(({ budget }) => budget.id === raised || budget.name === raised);
  useEffect(() => {
    if (toRaise && raised !== undefined) setOpen({ kind: "limit", state: toRaise });
  }, [toRaise !== undefined, raised]);
  const close = () => {
    setOpen(undefined);
    setQuery({ new: undefined, raise: undefined }, { replace: true });
  };
  const done = () => {
    close();
    reading.again();
  };

  useEffect(() => {
    const empty = reading.data?.budgets.filter(
      ({ level, budget }) => level === "full" && budget.mode !== "watch",
    ).length;
    if (empty !== undefined) setTrouble("/keys", empty > 0 ? `${empty} empty` : undefined);
  }, [reading.data]);

  const opened = rest || query.value["open"];
  const entry = reading.data?.keys.find(({ id, name }) => id === opened || name === opened);
  useEffect(() => {
    if (entry === undefined) return;
    const back = () => (rest ? go("/keys") : closeKey(entry.id));
    const undo = [onKey("Escape", back), onKey("o", () => go(`/keys/${encodeURIComponent(entry.id)}`))];
    return () => undo.forEach((one) => one());
  }, [entry?.id, rest]);

  const panel = reading.data && entry && (
    <KeyPanel entry={entry} overview={reading.data} onDeed={(kind) => setOpen({ kind, entry })} />
  );
  const dialogs = open && (
    <Dialogs open={open} overview={reading.data} setOpen={setOpen} onClose={close} onDone={done} />
  );
  if (rest)
    return (
      <Page title={entry?.name ?? "Key"} crumbs={<Crumbs name={entry?.name ?? rest} />}>
        <Loaded of={reading} what="The key">
          {() =>
            panel ? (
              <section class="panel" aria-label={entry!.name}>
                {panel}
              </section>
            ) : (
              <Blank
                title="No key by that id or name."
                acts={<Button onClick={() => go("/keys")}>All keys</Button>}
              />
            )
          }
        </Loaded>
        {dialogs}
      </Page>
    );
  return (
    <Page
      title="Keys & budgets"
      right={
        <>
          <Button class="w3" why={readOnly()} onClick={() => setOpen({ kind: "new-budget" })}>
            New budget
          </Button>
          <Button
            kind="main"
            why={readOnly()}
            onClick={() => setOpen({ kind: "new-key", path: usualPath() })}
          >
            New key
          </Button>
        </>
      }
    >
      <Loaded of={reading} what="Keys and budgets" rows={8}>
        {(overview) => (
          <div class={`calls keys ${panel ? "open" : ""}`}>
            <div class="list stack20">
              <Budgets
                overview={overview}
                nameOfKey={namesOf(overview)}
                onRaise={(state) => setOpen({ kind: "limit", state })}
                onNew={() => setOpen({ kind: "new-budget" })}
              />
              <Keys {...{ overview, showsRevoked }} onNew={(path) => setOpen({ kind: "new-key", path })} />
              <Refused />
            </div>
            {panel && (
              <section class="panel peek" aria-label={`Key ${entry!.name}`}>
                <header>
                  <h2 class="clip">{entry!.name}</h2>
                  <KeyTags entry={entry!} />
                  <div class="right">
                    <Button
                      kind="quiet"
                      icon="wide"
                      aria-label="As a page"
                      onClick={() => go(`/keys/${encodeURIComponent(entry!.id)}`)}
                    />
                    <Button
                      kind="quiet"
                      icon="close"
                      aria-label="Close"
                      onClick={() => closeKey(entry!.id)}
                    />
                  </div>
                </header>
                {panel}
              </section>
            )}
          </div>
        )}
      </Loaded>
      {dialogs}
    </Page>
  );
}

/** Closes the key beside the tree and goes back to its row. */
function closeKey(id: string): void {
  setQuery({ open: undefined });
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>(`tr[data-id="${CSS.escape(id)}"]`)?.focus(),
  );
}

/** Where a new key is at first: as far up as the signed-in key reaches. */
function usualPath(): string {
  return session.value?.path ?? "/";
}

function namesOf({ keys }: KeysOverview): (id: string) => string {
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? id;
}

function Crumbs({ name }: { name: string }) {
  return (
    <h1 class="crumbs clip">
      <a class="plain mid" href={hrefOf("/keys")}>
        Keys
      </a>
      <span class="dim"> / </span>
      {name}
    </h1>
  );
}

interface BudgetsProps {
  overview: KeysOverview;
  nameOfKey: (id: string) => string;
  onRaise: (state: BudgetState) => void;
  onNew: () => void;
}

function Budgets({ overview, nameOfKey, onRaise, onNew }: BudgetsProps) {
  const { budgets } = overview;
  return (
    <Panel title="Budgets" right={budgets.length > 0 && <BudgetLegend />}>
      {budgets.length === 0 ? (
        <Blank
          title="No budget."
          acts={
            <Button why={readOnly()} onClick={onNew}>
              New budget
            </Button>
          }
        >
          Calls are counted, and none is refused for its cost.{" "}
          <code>weir budgets set all 50/month --hard</code> does the same as the button.
        </Blank>
      ) : (
        <ul class="budgets">
          {budgets.map((state) => (
            <BudgetCard
              key={state.budget.id}
              state={state}
              nameOfKey={nameOfKey}
              onRaise={() => onRaise(state)}
            />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Keys({
  overview,
  showsRevoked,
  onNew,
}: {
  overview: KeysOverview;
  showsRevoked: boolean;
  onNew: (path: string) => void;
}) {
  const { keys } = overview;
  const paths = new Set(keys.map(({ path }) => path)).size;
  const declared = keys.some(({ source }) => source === "config");
  return (
    <Panel
      title="Keys"
      right={
        <>
          <span class="dim">
            {counted(keys.length, "key")}, {counted(paths, "path")}
          </span>
          <Button
            kind="quiet"
            aria-pressed={showsRevoked}
            onClick={() => setQuery({ show: showsRevoked ? undefined : "revoked" })}
          >
            Revoked too
          </Button>
        </>
      }
      foot={
        keys.length === 0 ? undefined : (
          <span>
            Of keys only the SHA-256 is stored.{" "}
            {declared && "Declared ones stand in the configuration file, and are changed there."}
          </span>
        )
      }
    >
      {keys.length === 0 ? (
        <Blank
          title="No key."
          acts={
            <Button kind="main" why={readOnly()} onClick={() => onNew(usualPath())}>
              New key
            </Button>
          }
        >
          Calls need none as long as there is none. With the first key for calls, every call needs one.
        </Blank>
      ) : (
        <KeyTree overview={overview} onNew={onNew} />
      )}
    </Panel>
  );
}

interface DialogsProps {
  open: Open;
  overview: KeysOverview | undefined;
  setOpen: (open: Open) => void;
  onClose: () => void;
  onDone: () => void;
}

function Dialogs({ open, overview, setOpen, onClose, onDone }: DialogsProps) {
  switch (open.kind) {
    case "new-key": {
      const hadKeys = overview?.keys.some(({ kind }) => kind === "call") ?? true;
      const onMade = (created: CreatedKey) =>
        setOpen({ kind: "secret", created, closes: created.closed && !hadKeys });
      return (
        <NewKeyDialog
          path={open.path}
          budgets={overview?.budgets ?? []}
          options={overview?.options ?? []}
          onClose={onClose}
          onMade={onMade}
        />
      );
    }
    case "secret":
      return <SecretDialog created={open.created} closes={open.closes} onClose={onDone} />;
    case "new-budget":
      return <NewBudgetDialog onClose={onClose} onDone={onDone} />;
    case "limit":
      return <LimitDialog state={open.state} onClose={onClose} onDone={onDone} />;
    case "edit":
      return overview && <EditKeyDialog {...{ overview, onClose, onDone }} entry={open.entry} />;
    case "rotate":
      return (
        <RotateDialog
          entry={open.entry}
          onClose={onClose}
          onMade={(created) => setOpen({ kind: "secret", created, closes: false })}
        />
      );
    case "revoke":
      return <RevokeDialog entry={open.entry} onClose={onClose} onDone={onDone} />;
  }
}
