/** Buttons, segments, fields, tags, and links on figures. */
import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { hrefOf, type QueryChange } from "../data/location.ts";
import { Icon, type IconName } from "./icons.tsx";
import { toast } from "./toasts.tsx";

type ButtonAttributes = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "class" | "icon">;

export interface ButtonProps extends ButtonAttributes {
  /** `main`: the one filled button of a page or dialog. */
  kind?: "main" | "quiet" | "danger";
  icon?: IconName;
  class?: string;
  children?: ComponentChildren;
  /** Why it is disabled; it is disabled if this is given. */
  why?: string | undefined;
}

/** A button. One without children needs `aria-label`. */
export function Button({ kind, icon, class: more = "", children, why, ...rest }: ButtonProps) {
  const look = kind === "main" ? "main-act" : (kind ?? "");
  const title = why ?? rest.title ?? (children === undefined ? rest["aria-label"] : undefined);
  return (
    <button
      type="button"
      {...rest}
      class={`btn ${look} ${children === undefined ? "icon" : ""} ${more}`}
      disabled={rest.disabled || why !== undefined}
      {...(title !== undefined && { title })}
    >
      {icon && <Icon name={icon} size={children === undefined ? 16 : 14} />}
      {children}
    </button>
  );
}

/** One choice of a few, in one row. Arrow keys move. */
export function Segments<Value extends string>(props: {
  label: string;
  options: readonly (readonly [Value, string])[];
  value: Value | undefined;
  onChoose: (value: Value) => void;
  class?: string;
}) {
  const { label, options, value, onChoose } = props;
  const row = useRef<HTMLDivElement>(null);
  const chosen = options.findIndex(([one]) => one === value);
  const move = (event: KeyboardEvent, at: number) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = options[at + step];
    if (step === 0 || !next) return;
    event.preventDefault();
    onChoose(next[0]);
    (row.current?.children[at + step] as HTMLElement | undefined)?.focus();
  };
  return (
    <div class={`seg ${props.class ?? ""}`} role="radiogroup" aria-label={label} ref={row}>
      {options.map(([one, text], at) => (
        <button
          type="button"
          role="radio"
          key={one}
          aria-checked={at === chosen}
          tabIndex={at === Math.max(0, chosen) ? 0 : -1}
          onClick={() => onChoose(one)}
          onKeyDown={(event) => move(event, at)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

export function Tag({
  look = "",
  title,
  children,
}: {
  look?: string;
  title?: string;
  children: ComponentChildren;
}) {
  return (
    <span class={`tag ${look}`} {...(title !== undefined && { title })}>
      {children}
    </span>
  );
}

/** A figure that opens what it is made of: `/calls` with these filters, or another page. */
export function Figure(props: {
  to?: string;
  query?: QueryChange;
  title?: string;
  children: ComponentChildren;
}) {
  const { to = "/calls", query = {}, title = "Open the calls this is made of", children } = props;
  return (
    <a class="fig" href={hrefOf(to, query)} title={title}>
      {children}
    </a>
  );
}

/** A label above its input. */
export function Field(props: {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  children: ComponentChildren;
}) {
  return (
    <label class="field">
      <span>{props.label}</span>
      {props.children}
      {props.error !== undefined ? (
        <span class="c-bad" role="alert">
          {props.error}
        </span>
      ) : (
        props.hint !== undefined && <span class="dim">{props.hint}</span>
      )}
    </label>
  );
}

/** What went wrong with what somebody asked for; nothing if `of` is undefined. Screen readers read it aloud. */
export function Fault({ of }: { of: string | undefined }) {
  return of === undefined ? null : (
    <p class="c-bad" role="alert">
      {of}
    </p>
  );
}

/** Puts text on the clipboard. @param what what the toast calls it: `Key` */
export async function copy(text: string, what: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    toast(`${what} was not copied: the browser does not allow it.`);
    return false;
  }
  toast(`${what} copied`);
  return true;
}

/** Text to paste elsewhere, with a button. @param shown what is on the screen, where it differs */
export function CopyLine(props: { text: string; shown?: string; label: string; onCopy?: () => void }) {
  const onClick = async () => {
    if (await copy(props.text, props.label)) props.onCopy?.();
  };
  return (
    <div class="copyline">
      <pre class="code" tabIndex={0}>
        {props.shown ?? props.text}
      </pre>
      <Button icon="copy" aria-label={`Copy ${props.label}`} onClick={() => void onClick()} />
    </div>
  );
}
