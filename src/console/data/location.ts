/** The address of the page: path and query are the whole state of a page. */
import { PREFIX } from "./prefix.ts";
import { computed, signal } from "./signal.ts";

/** The console lies below this path, and its own paths begin with `/`. */
export const BASE = `${PREFIX}/console`;

export interface ConsoleUrl {
  /** Below {@link BASE}: `/calls`. */
  path: string;
  query: Readonly<Record<string, string>>;
}

/** The new values of a query; undefined and "" remove one. */
export type QueryChange = Readonly<Record<string, string | number | undefined>>;

export const place = signal<ConsoleUrl>(read());
export const path = computed(() => place.value.path);
export const query = computed(() => place.value.query);

function read(): ConsoleUrl {
  const below = location.pathname.startsWith(BASE) ? location.pathname.slice(BASE.length) : "/";
  return {
    path: below === "" ? "/" : below,
    query: Object.fromEntries(new URLSearchParams(location.search)),
  };
}

/** @param to a path below the console with a query: `/calls?key=ci-bot` @returns an address for `href` */
export function hrefOf(to: string, values: QueryChange = {}): string {
  const [way = "/", given = ""] = to.split("?");
  const search = new URLSearchParams(given);
  for (const [name, value] of Object.entries(values))
    if (value === undefined || value === "") search.delete(name);
    else search.set(name, String(value));
  const text = search.toString();
  return `${BASE}${way === "/" ? "" : way}${text === "" ? "" : `?${text}`}`;
}

/** Shows another address. @param options.replace the way back skips the present one */
export function go(to: string, values: QueryChange = {}, options: { replace?: boolean } = {}): void {
  const href = hrefOf(to, values);
  if (href === location.pathname + location.search) return;
  history[options.replace ? "replaceState" : "pushState"](null, "", href);
  place.value = read();
}

/** Changes the query of the present page. */
export function setQuery(values: QueryChange, options: { replace?: boolean } = {}): void {
  go(place.value.path, { ...place.value.query, ...values }, options);
}

/** Follows links of the console without loading the document anew, and the way back. */
export function followLinks(): void {
  addEventListener("popstate", () => {
    place.value = read();
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin)
      return;
    if (link.pathname !== BASE && !link.pathname.startsWith(`${BASE}/`)) return;
    if (link.hash !== "") return;
    event.preventDefault();
    go(`${link.pathname.slice(BASE.length) || "/"}${link.search}`);
  });
}
