/** The frame of a page: the bar at its top with title and actions, and the main part. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { StaleNote } from "./stale-note.tsx";

export function Page(props: {
  title: string;
  /** In place of the title: the way to an entry. */
  crumbs?: ComponentChildren;
  /** Range and actions; at most one of them is filled. */
  right?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { title, crumbs, right, children } = props;
  useEffect(() => {
    document.title = `${title} · weir :${location.port || "80"}`;
  }, [title]);
  return (
    <div class="main">
      <header class="top">
        {crumbs ?? <h1>{title}</h1>}
        <div class="right">{right}</div>
      </header>
      <main class="page" id="main" tabIndex={-1}>
        <StaleNote />
        {children}
      </main>
    </div>
  );
}
