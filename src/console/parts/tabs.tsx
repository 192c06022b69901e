/** Tabs over one panel. Arrow keys move. */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

export function Tabs<Value extends string>(props: {
  label: string;
  tabs: readonly (readonly [Value, string])[];
  value: Value;
  onChoose: (value: Value) => void;
  children: ComponentChildren;
}) {
  const { label, tabs, value, onChoose, children } = props;
  const row = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent, at: number) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = tabs[at + step];
    if (step === 0 || !next) return;
    event.preventDefault();
    onChoose(next[0]);
    (row.current?.children[at + step] as HTMLElement | undefined)?.focus();
  };
  const idOf = (one: Value) => `tab-${one}`;
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={row}>
        {tabs.map(([one, text], at) => (
          <button
            type="button"
            role="tab"
            key={one}
            id={idOf(one)}
            aria-selected={one === value}
            aria-controls="tab-panel"
            tabIndex={one === value ? 0 : -1}
            onClick={() => onChoose(one)}
            onKeyDown={(event) => move(event, at)}
          >
            {text}
          </button>
        ))}
      </div>
      <div class="body" role="tabpanel" id="tab-panel" aria-labelledby={idOf(value)}>
        {children}
      </div>
    </>
  );
}
