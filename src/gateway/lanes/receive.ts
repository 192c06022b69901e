/** What is opened for a call, told to its receiver or by a promise. */
import type { Opened, OpenedReceiver } from "./lane.ts";

/** Tells the receiver what the promise brings. */
export function tell(opening: Promise<Opened>, receiver: OpenedReceiver): void {
  opening.then(
    (opened) => receiver.opened(opened),
    (thrown: unknown) => receiver.failed(thrown),
  );
}

/** @param open tells its receiver once */
export function opened(open: (receiver: OpenedReceiver) => void): Promise<Opened> {
  return new Promise((resolve, reject) => open({ opened: resolve, failed: reject }));
}
