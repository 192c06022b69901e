/** What workers tell the keeper. */

/** A person or workload whose token was verified. */
export interface SeenPerson {
  readonly id: string;
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly email?: string;
  readonly isEmailVerified: boolean;
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface IdentityUp {
  readonly seen: SeenPerson;
}
