/** Forms in dialogs, and their fields. */
import type { ComponentChildren } from "preact";
import type { ApiError } from "../data/api.ts";
import { Button, Fault, Field } from "./controls.tsx";
import { Dialog } from "./dialog.tsx";

/** A dialog with a form. The button at the end names the deed; Enter in a field does it. */
export function FormDialog(props: {
  title: string;
  deed: string;
  /** The entries are complete and can be sent. */
  ready?: boolean;
  busy: boolean;
  /** Why the last attempt failed. */
  error: ApiError | undefined;
  /** Another deed, at the other end of the row of buttons. */
  other?: ComponentChildren;
  onDo: () => unknown;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const { title, deed, ready = true, busy, error, other, onDo, onClose } = props;
  return (
    <Dialog label={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (ready && !busy) onDo();
        }}
      >
        <h2>{title}</h2>
        {props.children}
        <Fault of={error?.message} />
        <div class="end">
          {other}
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button kind="main" type="submit" disabled={!ready || busy}>
            {deed}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface TextProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  onFocus?: () => void;
  hint?: ComponentChildren;
  error?: string | undefined;
  class?: string;
  placeholder?: string;
  inputMode?: "numeric" | "decimal";
  /** Id of its suggestions. */
  list?: string;
  /** It gets the focus of the dialog. */
  "data-first"?: boolean;
}

/** One line of text. */
export function TextField({ label, hint, error, class: look = "", onChange, list, ...input }: TextProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      <input
        type="text"
        list={list}
        class={`input ${look}`}
        spellcheck={false}
        autoComplete="off"
        aria-invalid={error !== undefined}
        onInput={(event) => onChange(event.currentTarget.value)}
        {...input}
      />
    </Field>
  );
}

/** One choice of a list. */
export function SelectField<Value extends string | number>(props: {
  label: string;
  options: readonly (readonly [Value, string])[];
  value: Value;
  onChange: (value: Value) => void;
}) {
  const { label, options, value, onChange } = props;
  return (
    <Field label={label}>
      <select
        class="select"
        value={value}
        onChange={(event) => onChange(options[event.currentTarget.selectedIndex]![0])}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** Suggestions of a field; `list` of the field is this id. */
export function Suggestions({ id, of }: { id: string; of: readonly string[] }) {
  return (
    <datalist id={id}>
      {of.map((one) => (
        <option key={one} value={one} />
      ))}
    </datalist>
  );
}
