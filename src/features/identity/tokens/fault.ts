/** Why a token, a claim or an answer of an issuer is refused. Clients never see the sentence: it is for the log of the operator. */

/** Reasons, as metrics count them. */
export type Reason =
  | "malformed"
  | "algorithm"
  | "header"
  | "key"
  | "signature"
  | "issuer"
  | "audience"
  | "expired"
  | "time"
  | "type"
  | "claims"
  | "condition"
  | "path"
  | "revoked"
  | "suspended"
  | "unknown-person"
  | "unavailable";

export class TokenFault extends Error {
  override readonly name = "TokenFault";
  readonly reason: Reason;

  /** @param sentence what was found, and what was expected; it must not contain the token */
  constructor(reason: Reason, sentence: string) {
    super(sentence);
    this.reason = reason;
  }
}

/** A value of a claim within a sentence: short, and as JSON, so that nothing of it is interpreted. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
