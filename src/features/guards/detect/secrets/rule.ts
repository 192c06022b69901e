/** The rules for secrets as data. */

export interface AllowData {
  /** What the expressions look at; absent: the secret. */
  readonly target?: "match" | "line";
  readonly expressions: readonly (readonly [source: string, flags?: string])[];
  /** Lower case. A secret that has one of them is none. */
  readonly words: readonly string[];
}

export interface RuleData {
  readonly id: string;
  readonly source: string;
  readonly flags?: string;
  /** Lower case. The expression is tried where one of them is. */
  readonly keywords: readonly string[];
  /** How many characters of a match stand in front of the keyword, least and most; absent: it begins with the keyword. */
  readonly before?: readonly [number, number];
  /** A name, an operator and a value: what has no operator behind the keyword is no match. */
  readonly isNamed?: true;
  /** A command that stands in front of the match. */
  readonly command?: string;
  /** Bits a character of the secret has at least. */
  readonly entropy?: number;
  /** Group of the secret; absent: the first one that is not empty, or the match. */
  readonly group?: number;
  /** Groups are parts of the secret, which is the whole match. */
  readonly isWhole?: true;
  readonly allow?: readonly AllowData[];
}

export interface Rules {
  /** For all rules. */
  readonly allow: AllowData;
  readonly rules: readonly RuleData[];
}
