/** Numbers for the texts of a batch of records. */

/** Most texts in memory. Clients choose some of them. */
const KNOWN = 10_000;
/** Longer texts are written each time. Characters. */
const LONGEST = 256;

/** A text, or a list of texts as a branch of a tree. */
interface Name {
  /** The batch in which it has its number. */
  batch: number;
  id: number;
}

interface Branch extends Name {
  readonly next: Map<string, Branch>;
  readonly list: readonly string[];
}

/** Writes a text or a list that the batch does not have yet. */
export interface NameWriter {
  text(text: string): void;
  list(ids: readonly number[]): void;
}

export class BatchNames {
  readonly #writer: NameWriter;
  readonly #texts = new Map<string, Name>();
  #root: Branch = newBranch([]);
  #branches = 0;
  #batch = 1;
  #last = 0;

  constructor(writer: NameWriter) {
    this.#writer = writer;
  }

  /** A new batch, which has no names. */
  begin(): void {
    this.#batch++;
    this.#last = 0;
    if (this.#texts.size > KNOWN) this.#texts.clear();
    if (this.#branches <= KNOWN) return;
    this.#root = newBranch([]);
    this.#branches = 0;
  }

  /** @returns 0 for no text */
  text(text: string | undefined): number {
    if (text === undefined) return 0;
    const known = this.#texts.get(text);
    return known !== undefined && known.batch === this.#batch ? known.id : this.#define(text, known);
  }

  #define(text: string, known: Name = { batch: 0, id: 0 }): number {
    if (text.length <= LONGEST) this.#texts.set(text, known);
    this.#writer.text(text);
    return this.#number(known);
  }

  /** @returns 0 for no list */
  list(list: readonly string[] | undefined): number {
    if (list === undefined) return 0;
    let branch = this.#root;
    for (let at = 0; at < list.length; at++) {
      const text = list[at]!;
      branch = branch.next.get(text) ?? this.#grow(branch, text);
    }
    return branch.batch === this.#batch ? branch.id : this.#defineList(branch);
  }

  #grow(branch: Branch, text: string): Branch {
    const grown = newBranch([...branch.list, text]);
    branch.next.set(text, grown);
    this.#branches++;
    return grown;
  }

  #defineList(branch: Branch): number {
    this.#writer.list(branch.list.map((text) => this.text(text)));
    return this.#number(branch);
  }

  #number(name: Name): number {
    name.batch = this.#batch;
    return (name.id = ++this.#last);
  }
}

function newBranch(list: readonly string[]): Branch {
  return { batch: 0, id: 0, next: new Map(), list };
}
