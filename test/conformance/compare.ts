/** What must be equal between a direct call and one through the gateway. Each returns sentences; none means equal. */
import { answerBytes, type Recording } from "../helpers/recordings.ts";
import type { Seen, SeenError } from "../helpers/sdk.ts";
import type { Outcome, Wire } from "./call.ts";
import type { Expectation } from "./policy.ts";

/** How a call through the gateway differs from the direct one. */
export function differences(recording: Recording, direct: Outcome, through: Outcome): string[] {
  const { wire } = through;
  if (!wire) return [`no answer: ${show(through.items)}`];
  if (endsEarly(answerBytes(recording), wire.bytes)) return differentHeaders(recording, wire);
  return [
    ...(wire.status === recording.response.status
      ? []
      : [
          `status ${wire.status}, not ${recording.response.status}: ${wire.bytes.toString("utf8").slice(0, 300)}`,
        ]),
    ...(breaksBehindError(answerBytes(recording), wire.bytes)
      ? []
      : differentBytes(answerBytes(recording), wire.bytes)),
    ...differentSeen("items", direct.items, through.items),
    ...differentSeen("message", direct.message, through.message),
    ...differentHeaders(recording, wire),
  ];
}

/** How a call differs from what weir has to answer in the place of the upstream's own answer. */
export function differencesFromPolicy(
  recording: Recording,
  expectation: Extract<Expectation, { kind: "policy" }>,
  through: Outcome,
): string[] {
  const { wire } = through;
  if (!wire) return [`no answer: ${show(through.items)}`];
  const faults: string[] = [];
  if (wire.status !== expectation.status) faults.push(`status ${wire.status}, not ${expectation.status}`);
  if (!("error" in through.items)) return [...faults, "the SDK saw no error"];
  const { error } = through.items;
  const isClients = expectation.status === 400;
  const classes = isClients ? ["BadRequestError"] : ["InternalServerError", "APIError"];
  if (!classes.includes(error.class)) faults.push(`the SDK saw ${error.class}`);
  const isChat = recording.api === "chat";
  const type = isClients ? "invalid_request_error" : isChat ? "server_error" : "api_error";
  if (error.type !== type) faults.push(`error type ${String(error.type)}, not ${type}`);
  if (isChat && expectation.code && error.code !== expectation.code)
    faults.push(`error code ${String(error.code)}, not ${expectation.code}`);
  return [...faults, ...differentHeaders(recording, wire)];
}

/** What an upstream sends behind its terminator may pass or not. */
function endsEarly(recorded: Buffer, got: Buffer): boolean {
  if (got.length >= recorded.length || !recorded.subarray(0, got.length).equals(got)) return false;
  return /(?:data: ?\[DONE\]|event: ?message_stop\r?\ndata:[^\n]*)(?:\r?\n)*$/.test(got.toString("utf8"));
}

/** Behind an upstream's own error event the connection breaks: a comment may come, and the rest need not. */
function breaksBehindError(recorded: Buffer, got: Buffer): boolean {
  const text = got.toString("latin1").replace(/(?<=\n\n)(?::\n\n)+$/, "");
  const last = text.split(/\r?\n\r?\n/).findLast((event) => /^data:/m.test(event) && !/\[DONE\]/.test(event));
  return recorded.toString("latin1").startsWith(text) && /"error": ?\{/.test(last ?? "");
}

function differentBytes(recorded: Buffer, got: Buffer): string[] {
  if (recorded.equals(got)) return [];
  let at = 0;
  while (at < got.length && recorded[at] === got[at]) at++;
  const around = (bytes: Buffer) => JSON.stringify(bytes.toString("utf8", Math.max(0, at - 40), at + 60));
  return [`bytes differ at ${at} of ${recorded.length}: ${around(recorded)} became ${around(got)}`];
}

function differentSeen(what: string, direct: Seen<unknown>, through: Seen<unknown>): string[] {
  if ("error" in direct && "error" in through) return differentErrors(what, direct.error, through.error);
  const [left, right] = [show(direct), show(through)];
  return left === right
    ? []
    : [`${what} differ: direct ${left.slice(0, 300)}, through ${right.slice(0, 300)}`];
}

/** The request id is the gateway's own; all else an SDK shows of an error is the upstream's. */
function differentErrors(what: string, direct: SeenError, through: SeenError): string[] {
  const names = ["class", "status", "message", "code", "type", "param"] as const;
  return names
    .filter((name) => direct[name] !== through[name])
    .map((name) => `${what}: error ${name} ${String(through[name])}, direct ${String(direct[name])}`);
}

/** Both ids, one value; the vendor's limits on messages; nothing of the upstream's own household. */
function differentHeaders(recording: Recording, { headers }: Wire): string[] {
  const faults: string[] = [];
  const id = headers.get("x-request-id");
  if (!id || id !== headers.get("request-id")) faults.push("x-request-id and request-id are not one id");
  for (const name of ["set-cookie", "server", "openai-organization", "content-encoding"])
    if (headers.has(name)) faults.push(`the header ${name} passed`);
  if (recording.response.status !== 200) return faults;
  for (const [name, value] of Object.entries(recording.response.headers))
    if (name.startsWith("anthropic-ratelimit-") && headers.get(name) !== value)
      faults.push(`${name} was lost`);
  return faults;
}

function show(seen: Seen<unknown>): string {
  return JSON.stringify(seen) ?? "undefined";
}
