/** Keys of the whole console. None fires while the operator types or a dialog is open. */
import { keptFor } from "../data/filters.ts";
import { go, path, query } from "../data/location.ts";
import { handlers, overlay } from "./shortcuts.ts";
import { PAGES } from "./pages.ts";
import { switchTheme } from "./theme.ts";

/** Milliseconds within which the second key of a shortcut counts. */
const SECOND_KEY = 900;

export function listenToKeys(): void {
  let begun = 0;
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      overlay.value = "palette";
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    const isSecond = Date.now() - begun < SECOND_KEY;
    begun = event.key === "g" ? Date.now() : 0;
    const page = isSecond ? PAGES.find(({ key }) => key === event.key) : undefined;
    if (page) return go(page.path, keptFor(path.value, query.value, page.path));
    const handle = handlers.get(event.key) ?? COMMON[event.key];
    if (!handle) return;
    event.preventDefault();
    handle();
  });
}

const COMMON: Readonly<Record<string, () => void>> = {
  "/": () => document.getElementById("filter")?.focus(),
  j: () => moveFocus(1),
  k: () => moveFocus(-1),
  t: switchTheme,
  "?": () => {
    overlay.value = "help";
  },
};

/** Moves the focus to the row below or above. */
function moveFocus(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main tr[tabindex]")];
  const at = rows.findIndex((row) => row === document.activeElement);
  const next = rows[at + step] ?? (at === -1 ? rows[0] : undefined);
  next?.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable)
  );
}

/** For the dialog with the keys. */
export const KEYS: readonly (readonly [string, string])[] = [
  ["Ctrl K", "go to anything"],
  ["/", "filter"],
  ["j  k", "row below, above; also while a call is open"],
  ["Enter", "open the row"],
  ["o", "the open call as a page"],
  ["Esc", "close, back to the row"],
  ["p", "pause, resume the live list"],
  [
    PAGES.flatMap(({ key }) => (key === undefined ? [] : [`g ${key}`])).join("  "),
    PAGES.filter(({ key }) => key)
      .map(({ title }) => title)
      .join(", "),
  ],
  ["t", "light or dark"],
  ["?", "these keys"],
];
