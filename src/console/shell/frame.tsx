/** The frame around every page: navigation, the verdict on the books, and what lies over the page. */
import { useEffect, useRef } from "preact/hooks";
import { signedOut } from "../data/api.ts";
import { keptFor } from "../data/filters.ts";
import { hrefOf, path, query } from "../data/location.ts";
import { session } from "../data/session.ts";
import { proof, troubles } from "../data/status.ts";
import { clock } from "../numbers/times.ts";
import { Button } from "../parts/controls.tsx";
import { Icon, Logo, Shape } from "../parts/icons.tsx";
import { HatchPatterns } from "../parts/hatch.tsx";
import { Toasts } from "../parts/toasts.tsx";
import { SignIn } from "../pages/sign-in.tsx";
import { Help } from "./help.tsx";
import { overlay } from "./shortcuts.ts";
import { Palette } from "./palette.tsx";
import { GROUPS, pageAt, type PageEntry } from "./pages.ts";
import { switchTheme } from "./theme.ts";
import { Who } from "./who.tsx";

const openPalette = () => {
  overlay.value = "palette";
};

export function Frame() {
  const { entry, rest } = pageAt(path.value);
  const Shown = rest !== "" && entry.One ? entry.One : entry.Page;
  const last = useRef(path.value);
  useEffect(() => {
    if (last.current === path.value) return;
    last.current = path.value;
    scrollTo(0, 0);
    document.getElementById("main")?.focus({ preventScroll: true });
  }, [path.value]);
  // Before the first sign-in there is nothing to show, and nothing that weir would answer.
  if (signedOut.value && session.value === undefined) return <SignIn />;
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <HatchPatterns />
      <div class="app">
        <Side current={entry} />
        <Shown key={entry.path} rest={rest} />
      </div>
      <TabBar current={entry} />
      {overlay.value === "palette" && <Palette />}
      {overlay.value === "help" && <Help />}
      {signedOut.value && <SignIn />}
      <Toasts />
    </>
  );
}

function Side({ current }: { current: PageEntry }) {
  return (
    <nav class="side" aria-label="Console">
      <a class="brand" href={hrefOf("/")}>
        <Logo />
        <span class="word">weir</span>
        <span class="where">:{location.port || "80"}</span>
      </a>
      <button type="button" class="cmd" onClick={openPalette}>
        <Icon name="search" />
        <span>Go to…</span>
        <kbd>Ctrl K</kbd>
      </button>
      <div class="nav">
        {GROUPS.map(({ name, pages }, at) => (
          <>
            {at > 0 && <span class="sep" />}
            <h3>{name}</h3>
            {pages.map((entry) => (
              <NavLink key={entry.path} entry={entry} current={entry === current} />
            ))}
          </>
        ))}
      </div>
      <div class="foot">
        <ProofLine />
        <Who />
        <div class="acts">
          <Button kind="quiet" icon="theme" aria-label="Light or dark, t" onClick={switchTheme} />
          <Button
            kind="quiet"
            icon="help"
            aria-label="Keyboard, ?"
            onClick={() => {
              overlay.value = "help";
            }}
          />
        </div>
      </div>
    </nav>
  );
}

/** Range and filters go along between the pages that have them. */
const menuHref = ({ path: to }: PageEntry) => hrefOf(to, keptFor(path.value, query.value, to));

function NavLink({ entry, current }: { entry: PageEntry; current: boolean }) {
  const trouble = troubles.value[entry.path];
  return (
    <a href={menuHref(entry)} title={entry.title} {...(current && { "aria-current": "page" as const })}>
      <Icon name={entry.icon} />
      <span>{entry.title}</span>
      {trouble !== undefined && (
        <>
          <span class="count c-bad">{trouble}</span>
          <i class="dot" />
        </>
      )}
    </a>
  );
}

function ProofLine() {
  const verdict = proof.value;
  if (!verdict) return null;
  const text = verdict.holds ? "Books balance" : (verdict.fault ?? "The books do not balance.");
  return (
    <a class="proof" href={hrefOf("/store")} title={`${text}, proved ${clock(verdict.at)}`}>
      <Shape state={verdict.holds ? "ok" : "bad"} />
      <span class={`txt ${verdict.holds ? "" : "c-bad"}`}>
        {text}
        <br />
        <span class="dim">proved {clock(verdict.at)}</span>
      </span>
    </a>
  );
}

/** The navigation of narrow screens. */
function TabBar({ current }: { current: PageEntry }) {
  const entries = GROUPS.flatMap(({ pages }) => pages).filter(({ path: to }) => TABS.includes(to));
  return (
    <nav class="tabbar" aria-label="Pages">
      {entries.map((entry) => (
        <a
          key={entry.path}
          href={menuHref(entry)}
          {...(entry === current && { "aria-current": "page" as const })}
        >
          <Icon name={entry.icon} size={18} />
          {entry.title.split(" ")[0]}
        </a>
      ))}
      <button type="button" onClick={openPalette}>
        <Icon name="more" size={18} />
        More
      </button>
    </nav>
  );
}

const TABS = ["/", "/calls", "/spend", "/keys"];
