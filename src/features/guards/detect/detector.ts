/** What a detector is: exact, without state, and linear in the text. */

/** A part of a text that a guard acts on. Positions are UTF-16 units of the text; `end` is exclusive. */
export interface Finding {
  readonly start: number;
  readonly end: number;
  /** `EMAIL`: upper-case letters. Tokens, records and metrics have it. */
  readonly kind: string;
  /** The rule of a detector with several rules: `aws-access-token`. */
  readonly rule?: string;
  /** Where what tells that it is a value begins, such as its name; absent: it needs none. */
  readonly since?: number;
  /** What a value says that people cannot read as it stands. */
  readonly shown?: string;
}

/** Finds values of one kind by their form. */
export interface Detector {
  /** As the option `find` names it. */
  readonly name: string;
  readonly kind: string;
  /** It reads texts as they are written, without escapes in mind. */
  readonly isLiteral?: true;
  /** @param from values begin there or later; what is in front of it tells whether they can */
  find(text: string, from?: number): Finding[];
  /**
   * For a text that goes on: the smallest position from which a value may still begin or grow. What is in front of it is decided.
   * Absent: the length of a value has no bound, and an answer is judged as a whole only.
   */
  reach?(text: string): number;
  /** The same text for all spellings of a value, from which its token is made. Default: the value as it is written. */
  normal?(value: string): string;
}

/** The kind of values that an operator has named: the letters of the name. */
export function kindOf(name: string): string {
  return name.replace(/[^a-z]/g, "").toUpperCase() || "VALUE";
}

/** The digits of a text. */
export function digitsOf(text: string): string {
  return text.replace(/\D+/g, "");
}

/** All matches that begin at a position or later. @param expression with the flag `g` */
export function* matchesFrom(expression: RegExp, text: string, from: number): Generator<RegExpExecArray> {
  let at = from;
  for (;;) {
    expression.lastIndex = at;
    const match = expression.exec(text);
    if (!match) return;
    at = expression.lastIndex > match.index ? expression.lastIndex : match.index + 1;
    yield match;
  }
}
