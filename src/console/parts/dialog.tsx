/** Dialogs. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button, Fault } from "./controls.tsx";

/**
 * A modal dialog while it is rendered. The first element with `data-first` gets the focus, and it goes back afterwards.
 * @param props.fixed neither Escape nor a click outside closes it
 */
export function Dialog(props: {
  label: string;
  onClose: () => void;
  fixed?: boolean;
  class?: string;
  children: ComponentChildren;
}) {
  const { label, onClose, fixed = false } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key arrives: what is typed at once belongs to the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const element = dialog.current!;
    element.showModal();
    element.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => {
      element.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={props.class ?? ""}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        if (!fixed) onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current && !fixed) onClose();
      }}
    >
      {props.children}
    </dialog>
  );
}

/** Asks before a deed that cannot be taken back. The focus starts on Cancel, and the button names the deed. */
export function Confirm(props: {
  title: string;
  deed: string;
  busy?: boolean;
  error?: string | undefined;
  onDo: () => void;
  onClose: () => void;
  children: ComponentChildren;
}) {
  return (
    <Dialog label={props.title} onClose={props.onClose}>
      <div class="in">
        <h2>{props.title}</h2>
        <div>{props.children}</div>
        <Fault of={props.error} />
        <div class="end">
          <Button kind="quiet" data-first onClick={props.onClose}>
            Cancel
          </Button>
          <Button kind="danger" disabled={props.busy ?? false} onClick={props.onDo}>
            {props.deed}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
