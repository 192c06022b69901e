/** Callers that are gone for good: what a part keeps for them is to be deleted. */
export class GoneCallers {
  readonly #tests: ((id: string) => boolean)[] = [];

  /** @param isGone whether the caller with an id is one that was revoked or deleted; false for ids that it does not know */
  add(isGone: (id: string) => boolean): void {
    this.#tests.push(isGone);
  }

  /** @param id of a principal */
  has(id: string): boolean {
    return this.#tests.some((isGone) => isGone(id));
  }
}
