/** Toasts: for what one did oneself and cannot see. A failure is never a toast: it stays where it happened. */
import { signal } from "../data/signal.ts";

const SHOWN_FOR = 4_000;

const toasts = signal<readonly { id: number; text: string }[]>([]);
let last = 0;

export function toast(text: string): void {
  const id = (last += 1);
  toasts.value = [...toasts.value, { id, text }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((one) => one.id !== id);
  }, SHOWN_FOR);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text }) => (
        <div class="toast" key={id}>
          {text}
        </div>
      ))}
    </div>
  );
}
