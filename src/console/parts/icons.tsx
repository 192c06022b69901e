/** Icons on a grid of 17 units, and the shapes of states. */
import type { ComponentChildren } from "preact";

const ICONS = {
  now: "M2 9h3l2-5 3 9 2-4h3",
  calls: "M3 4h11M3 8.5h11M3 13h7",
  spend: "M3 14V9m4 5V5m4 9V7m4 7V3",
  keys: "M9.5 7.5a3 3 0 1 1-2-2L14 12v2h-3v-2H9",
  providers: "M3 4h11v4H3zM3 10h11v4H3zM5.5 6h.01M5.5 12h.01",
  play: "M5 3.5v10l8-5z",
  tools: "M11.5 3a3.5 3.5 0 0 0-4 5L3 12.5 4.5 14 9 9.5a3.5 3.5 0 0 0 5-4l-2 2-2-2z",
  guards: "M8.5 2 14 4v4c0 3.5-2.5 6-5.5 7C5.5 14 3 11.5 3 8V4z",
  alerts: "M8.5 3a3.5 3.5 0 0 1 3.5 3.5c0 4 1.5 5 1.5 5h-10S5 10.5 5 6.5A3.5 3.5 0 0 1 8.5 3zM7.5 14h2",
  cache: "M8.5 3c3.6 0 6 .9 6 2s-2.4 2-6 2-6-.9-6-2 2.4-2 6-2zM2.5 5v7c0 1.1 2.4 2 6 2s6-.9 6-2V5",
  prices: "M3 3h5.5L14.5 9 9 14.5 3 8.5zM6 6h.01",
  config: "M3 5h5m4 0h2M3 12h2m4 0h5M10 3v4M7 10v4",
  store: "M3 3h11v11H3zM3 7h11M6.5 10.5l1.5 1.5 3-3",
  more: "M4 8.5h.01M8.5 8.5h.01M13 8.5h.01",
  sessions: "M3 3h8v6H6l-3 2.5zM13 7h1.5v7.5L12 12H8",
  rehearse: "M3 5.5h10l-2.5-2.5M14 11.5H4L6.5 14",
  search: "M7.5 12a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM11 11l3.5 3.5",
  copy: "M6 6h8v8H6zM11 6V3H3v8h3",
  theme:
    "M8.5 5.5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM8.5 1.5v1.5m0 11v1.5M1.5 8.5H3m11 0h1.5M3.5 3.5l1 1m8 8 1 1m0-10-1 1m-8 8-1 1",
  close: "M4 4l9 9m0-9-9 9",
  wide: "M6 3H3v3m8-3h3v3M6 14H3v-3m8 3h3v-3",
  up: "M4 10l4.5-4.5L13 10",
  down: "M4 7l4.5 4.5L13 7",
  help: "M6 6.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M8.5 13h.01",
  pause: "M6 4v9m5-9v9",
  plus: "M8.5 3.5v10m-5-5h10",
} as const;
export type IconName = keyof typeof ICONS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 17 17" aria-hidden="true">
      <path
        d={ICONS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}

/** The mark of weir. */
export function Logo({ size = 18 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 18 18" aria-hidden="true">
      <path d="M1 5h7v4h4v4h5" fill="none" stroke="currentColor" stroke-width="2.2" />
      <path d="M1 9.5h3.5v4H8" fill="none" stroke="currentColor" stroke-width="1.4" opacity="0.55" />
    </svg>
  );
}

/** A state is a shape and a word first, a colour third: disc, triangle, square, ring. */
export type State = "ok" | "warn" | "bad" | "off";

const SHAPES: Readonly<Record<State, { d: string; name: string; filled: boolean }>> = {
  ok: { name: "c-ok", d: "M6 2a4 4 0 1 1 0 8 4 4 0 0 1 0-8z", filled: true },
  warn: { name: "c-warn", d: "M6 1.5 11 10.5H1z", filled: true },
  bad: { name: "c-bad", d: "M2 2h8v8H2z", filled: true },
  off: { name: "dim", d: "M6 2.7a3.3 3.3 0 1 1 0 6.6 3.3 3.3 0 0 1 0-6.6z", filled: false },
};

export function Shape({ state }: { state: State }) {
  const { d, name, filled } = SHAPES[state];
  return (
    <svg width="12" height="12" viewBox="0 0 12 12" class={name} aria-hidden="true">
      <path
        d={d}
        fill={filled ? "currentColor" : "none"}
        stroke={filled ? "none" : "currentColor"}
        stroke-width="1.5"
      />
    </svg>
  );
}

/** A shape with its word. */
export function Mark({ state, children }: { state: State; children: ComponentChildren }) {
  return (
    <span class="mark">
      <Shape state={state} />
      <span>{children}</span>
    </span>
  );
}
