/** The files that a config was read from, and whether one of them has changed since. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** What the system says of a file: a link counts as what it leads to, so a folder that a link stands for may be swapped. */
type Look = () => string;

export class WatchedFiles {
  /** How to look at each, and what was seen just before it was read. */
  readonly #seen = new Map<string, { look: Look; was: string }>();

  /** Call this before the file is read: what changes from then on counts. @param path absolute */
  add(path: string): void {
    this.#add(path, () => signatureOf(path));
  }

  /** @param find the files that a pattern matches; it may throw */
  addPattern(pattern: string, find: () => readonly string[]): void {
    this.#add(`pattern ${pattern}`, () => {
      try {
        return find().join("\0");
      } catch {
        return "";
      }
    });
  }

  /** A folder that may be absent, with the files directly in it. */
  addFolder(path: string): void {
    this.#add(`folder ${path}`, () => {
      try {
        return readdirSync(path)
          .sort()
          .map((name) => `${name} ${signatureOf(join(path, name))}`)
          .join("\0");
      } catch {
        return "";
      }
    });
  }

  /** Also those of an earlier reading: of a config that cannot be read to its end, a file may be missing here. */
  keep(earlier: WatchedFiles): void {
    for (const [name, { look }] of earlier.#seen) this.#add(name, look);
  }

  /** What the files look like now; two equal texts mean that nothing has changed in between. */
  get now(): string {
    return [...this.#seen.values()].map(({ look }) => look()).join("\n");
  }

  /** What they looked like when they were read. */
  get read(): string {
    return [...this.#seen.values()].map(({ was }) => was).join("\n");
  }

  #add(name: string, look: Look): void {
    if (!this.#seen.has(name)) this.#seen.set(name, { look, was: look() });
  }
}

function signatureOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs}`;
  } catch {
    return "absent";
  }
}
