/** Panels, notes and lists of facts. */
import type { ComponentChildren } from "preact";
import { Shape, type State } from "./icons.tsx";

export function Panel(props: {
  title?: ComponentChildren;
  label?: string;
  right?: ComponentChildren;
  foot?: ComponentChildren;
  class?: string;
  busy?: boolean;
  children?: ComponentChildren;
}) {
  const label = props.label ?? (typeof props.title === "string" ? props.title : undefined);
  return (
    <section
      class={`panel ${props.class ?? ""}`}
      aria-busy={props.busy ?? false}
      {...(label && { "aria-label": label })}
    >
      {(props.title !== undefined || props.right !== undefined) && (
        <header>
          {typeof props.title === "string" ? <h2>{props.title}</h2> : props.title}
          {props.right !== undefined && <div class="right">{props.right}</div>}
        </header>
      )}
      {props.children}
      {props.foot !== undefined && <footer>{props.foot}</footer>}
    </section>
  );
}

/** A task for the operator: a shape, a sentence, one or two links. */
export function Note({
  state,
  acts,
  children,
}: {
  state: State;
  acts?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <div class={`note ${state}`}>
      <Shape state={state} />
      <span>{children}</span>
      {acts !== undefined && <span class="acts">{acts}</span>}
    </div>
  );
}

/** Names and values; those without a value are left out. */
export function Facts({ rows }: { rows: readonly (readonly [string, ComponentChildren] | undefined)[] }) {
  return (
    <dl class="facts">
      {rows.map(
        (row) =>
          row && (
            <>
              <dt>{row[0]}</dt>
              <dd>{row[1]}</dd>
            </>
          ),
      )}
    </dl>
  );
}

/** The share of a whole, 0 to 1, as a grey bar of 100 px. The figure is beside it. */
export function ShareBar({ share }: { share: number }) {
  const width = share <= 0 ? 0 : Math.max(1, Math.min(100, share * 100));
  return (
    <svg class="share" aria-hidden="true">
      <rect width={width} height="6" rx="1" />
    </svg>
  );
}
