/**
 * Names of the documents of a request. The provider wants each to be unique, of letters, digits, single spaces, hyphens and
 * brackets; a name from the client could be an instruction to the model.
 */
export class DocumentNames {
  #count = 0;

  next(): string {
    return `Document ${++this.#count}`;
  }
}
