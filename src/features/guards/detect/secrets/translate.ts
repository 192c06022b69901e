/**
 * Makes an expression of JavaScript from one of Go (RE2): flags that hold from the middle of a group on become groups with flags,
 * classes have the characters that they have in Go.
 */

/** White space, as Go's `\s` has it. */
const SPACE = "\\t\\n\\f\\r ";
const POSIX: Readonly<Record<string, string>> = {
  alnum: "A-Za-z0-9",
  alpha: "A-Za-z",
  digit: "0-9",
  xdigit: "0-9A-Fa-f",
};

export interface Translated {
  readonly source: string;
  /** The whole expression ignores case. */
  readonly flags: "" | "i";
}

export function translated(expression: string): Translated {
  const ignoresCase = expression.startsWith("(?i)");
  const source = new Translation(ignoresCase ? expression.slice(4) : expression).read();
  new RegExp(source, ignoresCase ? "i" : "");
  return { source, flags: ignoresCase ? "i" : "" };
}

class Translation {
  readonly #given: string;
  #at = 0;

  constructor(given: string) {
    this.#given = given;
  }

  read(): string {
    const source = this.#alternatives();
    if (this.#at < this.#given.length) throw new Error(`cannot read ${this.#given} from ${this.#at} on`);
    return source;
  }

  /** Up to the end of the group. A flag that is set in it holds for all that follows, in later alternatives too. */
  #alternatives(): string {
    let source = "";
    let isOpen = false;
    for (;;) {
      const rest = this.#given.slice(this.#at);
      if (rest === "" || rest.startsWith(")")) return source + (isOpen ? ")" : "");
      if (rest.startsWith("(?i)")) {
        this.#at += 4;
        if (!isOpen) source += "(?i:";
        isOpen = true;
      } else if (rest.startsWith("|")) {
        this.#at++;
        source += isOpen ? ")|(?i:" : "|";
      } else source += this.#piece(rest);
    }
  }

  #piece(rest: string): string {
    if (rest.startsWith("(?s:.)")) return this.#take(6, "[^]");
    const group = /^\((?:\?(?:P<\w+>|[a-z-]*:))?/.exec(rest)?.[0];
    if (group !== undefined) {
      this.#at += group.length;
      const body = this.#alternatives();
      this.#at++;
      return `${group.startsWith("(?P<") ? "(" : group}${body})`;
    }
    if (rest[0] === "[") return this.#set(rest);
    if (rest[0] === ".") return this.#take(1, "[^\\n]");
    if (rest[0] === "\\") return this.#take(rest.startsWith("\\x") ? 4 : 2, escape(rest));
    return this.#take(1, rest[0]!);
  }

  #set(rest: string): string {
    const isNegated = rest[1] === "^";
    let body = "";
    let at = isNegated ? 2 : 1;
    for (let isFirst = true; isFirst || rest[at] !== "]"; isFirst = false) {
      const posix = /^\[:(\w+):\]/.exec(rest.slice(at));
      const piece = posix
        ? posix[0]
        : rest[at] === "\\"
          ? rest.slice(at, at + (rest[at + 1] === "x" ? 4 : 2))
          : rest[at]!;
      at += piece.length;
      body += posix ? POSIX[posix[1]!]! : piece === "\\s" ? SPACE : piece === "]" ? "\\]" : piece;
    }
    if (body === "\\S") return this.#take(at + 1, `[^${SPACE}]`);
    if (body.includes("\\S")) return this.#take(at + 1, "[^]");
    return this.#take(at + 1, `[${isNegated ? "^" : ""}${body}]`);
  }

  #take(length: number, source: string): string {
    this.#at += length;
    return source;
  }
}

function escape(rest: string): string {
  if (rest.startsWith("\\s")) return `[${SPACE}]`;
  if (rest.startsWith("\\S")) return `[^${SPACE}]`;
  if (rest.startsWith("\\z")) return "$";
  return rest.slice(0, rest.startsWith("\\x") ? 4 : 2);
}
