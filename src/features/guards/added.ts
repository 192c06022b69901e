/** The guards that a key or a client adds to a call. Neither can turn one off. */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { addedGuards } from "./key-options.ts";

const ADD = "x-weir-guards-add";
/** What clients may try, and what has no effect. */
const REMOVE = ["x-weir-guards", "x-weir-guards-remove"];

const NONE: readonly string[] = [];

/**
 * The names that the key and the headers of a call add; a call that a plugin asks has those of the call that it is asked for.
 * @param has whether a guard exists
 * @throws GatewayError for a name that none has
 */
export function addedTo(call: Call, has: (name: string) => boolean): readonly string[] {
  const own = addedGuards.of(call.principal);
  let added = own ?? NONE;
  for (const name of added)
    if (!has(name))
      throw new GatewayError(
        "overloaded",
        `The calls of this key need the guard ${JSON.stringify(name)}, which this gateway does not have.`,
        { code: "guard_unavailable", shouldRetry: false },
      );
  for (let one: Call | undefined = call; one; one = one.parent) {
    const written = one.headers.get(ADD);
    if (written !== null) added = [...added, ...namesIn(written, has)];
  }
  return added;
}

function namesIn(written: string, has: (name: string) => boolean): string[] {
  const names = written.split(",").map((name) => name.trim());
  return names.filter((name) => {
    if (name !== "" && !has(name))
      throw new GatewayError(
        "invalid-request",
        `The header ${ADD} names the guard ${JSON.stringify(name)}, which this gateway does not have.`,
        { code: "unknown_guard", param: ADD, shouldRetry: false },
      );
    return name !== "";
  });
}

/** Tells a client that tries to turn guards off. */
export function noteRemoval(call: Call): void {
  for (const header of REMOVE)
    if (call.headers.has(header))
      call.reportLoss("dropped", `headers.${header}`, "no request can turn a guard off");
}
