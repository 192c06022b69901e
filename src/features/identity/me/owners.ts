/** Keys of people: they admit calls as long as their person may use models. */
import type { Principal } from "../../../core/principal.ts";
import { expectAdmitted, expectMember, type Rules } from "../callers.ts";
import type { Known } from "../known.ts";
import { grantsIn } from "../people.ts";
import { refusalOf } from "../refusals.ts";
import { TokenFault } from "../tokens/fault.ts";

export interface OwnersOptions {
  readonly known: Known;
  readonly rules: Rules;
  /** Logs why a key was refused. */
  refused(fault: TokenFault): void;
}

/** @returns throws a GatewayError for the key of a person who may not call */
export function checkOwners({ known, rules, refused }: OwnersOptions): (principal: Principal) => void {
  return ({ person = "", path }) => {
    try {
      // Before the first rows a person who is suspended would look unknown.
      if (!known.isReady || known.isTooOld())
        throw new TokenFault("unavailable", "the people of the store are not known at the moment");
      const row = known.get(person);
      expectAdmitted({ subject: person, issuedAt: Infinity }, row, undefined);
      expectMember(person, row ? grantsIn(row) : [], path, rules);
    } catch (thrown) {
      if (!(thrown instanceof TokenFault)) throw thrown;
      refused(thrown);
      throw refusalOf(thrown);
    }
  };
}
