/** Light or dark: by the system, until the operator chooses. It is all that the console remembers. */

const NAME = "weir.theme";

export function restoreTheme(): void {
  const chosen = remembered();
  if (chosen !== null) document.documentElement.dataset["theme"] = chosen;
}

export function switchTheme(): void {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const next = (root.dataset["theme"] ?? dark) === "dark" ? "light" : "dark";
  root.dataset["theme"] = next;
  try {
    localStorage.setItem(NAME, next);
  } catch {
    // The choice holds until the page is closed.
  }
}

function remembered(): string | null {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null;
  }
}
