/** Checks that cannot hold through weir for a reason that lies in the server or the protocol. */
import type { Worse } from "./verdicts.ts";

export interface Excuse {
  /** The name of the server. */
  readonly reference: string;
  readonly cell: string;
  /** Of the scenario and the check, with a space between. */
  readonly pattern: RegExp;
  /** For the table of the README. */
  readonly why: string;
}

const NAMELESS =
  "a legacy server's question has no name, and the suite wants the one that the modern server gave";

export const EXCUSES: readonly Excuse[] = [
  {
    reference: "reference.ts",
    cell: "ML",
    pattern: /^input-required-result-(basic-elicitation|ignore-extra-params) /,
    why: NAMELESS,
  },
  {
    ...{ reference: "everything-server.ts", cell: "LM" },
    pattern: /^(elicitation-sep|tools-call-(sampling|elicitation) )/,
    why: "the modern half of `everything-server.ts` asks the client nothing in these tools",
  },
  {
    ...{ reference: "everything-server.ts", cell: "ML" },
    pattern:
      /^input-required-|^server-stateless .*(undeclared-capability|missing-capability|independent-requests|no-log|-list-changed)/,
    why: "the legacy half of `everything-server.ts` has none of these tools",
  },
];

export interface Judged {
  readonly worse: readonly Worse[];
  readonly excused: ReadonlyMap<Excuse, number>;
}

/** Parts what is worse into faults and what is excused. */
export function excuse(reference: string, cell: string, worse: readonly Worse[]): Judged {
  const excused = new Map<Excuse, number>();
  const faults = worse.filter(({ scenario, check }) => {
    const reason = EXCUSES.find(
      (one) => one.cell === cell && one.reference === reference && one.pattern.test(`${scenario} ${check}`),
    );
    if (reason) excused.set(reason, (excused.get(reason) ?? 0) + 1);
    return !reason;
  });
  return { worse: faults, excused };
}
