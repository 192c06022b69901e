/** Messages that arrive before the store is open. */

/**
 * Holds messages back until something has happened.
 * @param happened absent: it has happened already
 * @returns `receive` takes a message; after `drop` nothing that waits is taken
 */
export function heldUntil<Message>(happened: Promise<void> | undefined, take: (message: Message) => void) {
  let waiting: Message[] | undefined = happened && [];
  void happened?.then(() => {
    for (const message of waiting ?? []) take(message);
    waiting = undefined;
  });
  return {
    receive: (message: Message) => (waiting ? void waiting.push(message) : take(message)),
    drop: () => void (waiting &&= []),
  };
}
