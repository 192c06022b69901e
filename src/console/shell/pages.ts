/** The pages: addresses, words, shortcuts, and the code of each. */
import type { ComponentType } from "preact";
import type { IconName } from "../parts/icons.tsx";
import * as ownPages from "../own-pages.ts";
import { CallPage } from "../pages/calls/call-page.tsx";
import { CallsPage } from "../pages/calls/calls-page.tsx";
import { ConfigPage } from "../pages/config/config-page.tsx";
import { KeysPage } from "../pages/keys/keys-page.tsx";
import { NowPage } from "../pages/now/now-page.tsx";
import { PricesPage } from "../pages/prices/prices-page.tsx";
import { ProvidersPage } from "../pages/providers/providers-page.tsx";
import { SpendPage } from "../pages/spend/spend-page.tsx";
import { StorePage } from "../pages/store/store-page.tsx";
import { later } from "./later.tsx";
import type { OwnPage, PageProps } from "./own-page.ts";

const loaded = (page: OwnPage): PageEntry => ({ ...page, Page: later(page) });
const OWN = Object.values<OwnPage>(ownPages);

export interface PageEntry {
  path: string;
  title: string;
  icon: IconName;
  /** After `g`. */
  key?: string;
  Page: ComponentType<PageProps>;
  /** The page for one entry: `/calls/:id`. Without it the page itself gets `rest`. */
  One?: ComponentType<PageProps>;
}

export const GROUPS: readonly { name: string; pages: readonly PageEntry[] }[] = [
  {
    name: "Watch",
    pages: [
      { path: "/", title: "Now", icon: "now", key: "n", Page: NowPage },
      { path: "/calls", title: "Calls", icon: "calls", key: "c", Page: CallsPage, One: CallPage },
      { path: "/spend", title: "Spend", icon: "spend", key: "s", Page: SpendPage },
    ],
  },
  {
    name: "Steer",
    pages: [
      { path: "/keys", title: "Keys & budgets", icon: "keys", key: "k", Page: KeysPage },
      { path: "/providers", title: "Providers", icon: "providers", key: "p", Page: ProvidersPage },
      loaded({
        ...{ path: "/playground", title: "Playground", icon: "play" },
        load: async () => (await import("../pages/playground/playground-page.tsx")).PlaygroundPage,
      }),
      ...OWN.filter(({ isInner }) => !isInner).map(loaded),
    ],
  },
  {
    name: "Understand",
    pages: [
      loaded({
        ...{ path: "/cache", title: "Cache", icon: "cache" },
        load: async () => (await import("../pages/cache/cache-page.tsx")).CachePage,
      }),
      { path: "/prices", title: "Prices & what-if", icon: "prices", Page: PricesPage },
    ],
  },
  {
    name: "System",
    pages: [
      { path: "/config", title: "Config", icon: "config", Page: ConfigPage },
      { path: "/store", title: "Store & audit", icon: "store", Page: StorePage },
    ],
  },
];

/** Those that the menu names. */
export const PAGES: readonly PageEntry[] = GROUPS.flatMap((group) => group.pages);
const ALL: readonly PageEntry[] = [...PAGES, ...OWN.filter(({ isInner }) => isInner).map(loaded)];

/** The page at a path, and what is left of the path. */
export function pageAt(path: string): { entry: PageEntry; rest: string } {
  const entry = ALL.find(
    (page) => page.path !== "/" && (path === page.path || path.startsWith(`${page.path}/`)),
  );
  if (!entry) return { entry: PAGES[0]!, rest: "" };
  return { entry, rest: decoded(path.slice(entry.path.length + 1)) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
