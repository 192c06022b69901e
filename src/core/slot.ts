/** Notes on a call, an attempt or a key, of which only their owner knows the type. Plugins note on what they see of a call. */

/** Carries notes. Only {@link Slot} reads and writes them. */
export interface Noted {
  notes?: unknown[];
}

/** The typed key of one note. It is made once, when its module is loaded. */
export class Slot<Value> {
  static #made = 0;
  readonly #at = Slot.#made++;

  get(noted: Noted): Value | undefined {
    return noted.notes?.[this.#at] as Value | undefined;
  }

  set(noted: Noted, value: Value): void {
    (noted.notes ??= [])[this.#at] = value;
  }
}
