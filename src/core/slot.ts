/** Notes on a call, an attempt or a key, of which only their owner knows the type. */

/** Carries notes. Only {@link Slot} reads and writes them. */
export interface Noted {
  notes?: unknown[];
}

let made = 0;

/** The typed key of one note. It is made once, when its module is loaded. */
export class Slot<Value> {
  readonly #at = made++;

  get({ notes }: Noted): Value | undefined {
    return notes?.[this.#at] as Value | undefined;
  }

  set(noted: Noted, value: Value): void {
    (noted.notes ??= [])[this.#at] = value;
  }
}
