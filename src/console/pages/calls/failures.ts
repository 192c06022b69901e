/** Failed attempts in words: labels, what a provider did, and what to do where that is certain. */
import { CLASSES, placeOf } from "../../data/call-facts.ts";
import type { CallEntry } from "../../data/types.ts";
import { duration } from "../../numbers/durations.ts";

type Failure = NonNullable<CallEntry["failures"]>[number];

/** Of an attempt, by its place in the call. Records of earlier versions have none. */
export function failureAt({ failures }: CallEntry, at: number): Failure | undefined {
  return failures?.find(({ try: number }) => number === at + 1);
}

/** `503 overloaded_error: Overloaded`; of earlier versions the class alone. */
export function labelAt(call: CallEntry, at: number): string {
  const failure = failureAt(call, at);
  const name = call.attempts[at]!.class;
  return failure ? `${headOf(failure)}${tailOf(failure)}` : (CLASSES[name] ?? name);
}

const isStatus = ({ status = 0 }: Failure) => status >= 400;

/** `503 overloaded_error`, `timeout`. */
function headOf(failure: Failure): string {
  const { status, what, code } = failure;
  const first = isStatus(failure) ? String(status) : what;
  return code === undefined || code === first ? first : `${first} ${code}`;
}

const tailOf = ({ message }: Failure) => (message === undefined ? "" : `: ${message}`);

const CLOSED = "closed the connection before it answered";
const DID: Readonly<Record<string, string>> = {
  timeout: "did not answer in time",
  "connect-timeout": "did not accept the connection in time",
  refused: "refused the connection",
  dns: "has an address that does not resolve",
  unreachable: "could not be reached",
  reset: CLOSED,
  stale: CLOSED,
  stream_incomplete: "broke off its answer",
};

/** Attempts in a row at one place that failed in the same way. */
export interface Failed {
  place: string;
  /** `answered 529`, `did not answer in time`. */
  did: string;
  /** The provider's code and message; empty where `did` says all. */
  more: string;
  times: number;
}

export function failedOf(call: CallEntry): Failed[] {
  const groups: Failed[] = [];
  for (const [at, attempt] of call.attempts.entries()) {
    if (attempt.class === "answered") continue;
    const place = placeOf(attempt);
    const made = { place, times: 1, ...deedOf(call, at) };
    const before = groups.at(-1);
    if (before?.place === place && before.did === made.did)
      groups[groups.length - 1] = { ...made, times: before.times + 1 };
    else groups.push(made);
  }
  return groups;
}

function deedOf(call: CallEntry, at: number): Pick<Failed, "did" | "more"> {
  const failure = failureAt(call, at);
  if (!failure) return { did: `failed (${labelAt(call, at)})`, more: "" };
  const known = DID[failure.what];
  if (isStatus(failure))
    return { did: `answered ${failure.status}`, more: ` ${failure.code ?? ""}${tailOf(failure)}`.trimEnd() };
  return known === undefined
    ? { did: `failed (${failure.what})`, more: tailOf(failure) }
    : { did: known, more: "" };
}

export const TIMES: Readonly<Record<number, string>> = { 1: "", 2: " twice" };

/** What the operator can do, where the last failure leaves no doubt. */
export function adviceOn(call: CallEntry): string | undefined {
  const last = call.attempts.length - 1;
  const failure = failureAt(call, last);
  if (!failure || call.outcome !== "failed") return undefined;
  const place = placeOf(call.attempts[last]!);
  if (failure.status === 401) return `${place} does not accept weir's credential: renew it.`;
  if (failure.status === 402) return `The account at ${place} cannot pay: add credit.`;
  if (failure.status !== 429) return undefined;
  const pause =
    failure.retryAfter === undefined
      ? ""
      : `, which asked for a pause of ${duration(failure.retryAfter * 1000)}`;
  return `It is a limit of the account at ${place}${pause}.`;
}
