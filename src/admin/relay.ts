/** Calls of the console: the admin API sends them to the gateway as any client would, with a key that the gateway lends it. */
import { digestOf, makeKeyText } from "../ledger/keys/form.ts";
import { findKey } from "./entries.ts";
import { AdminError, invalid } from "../operator/errors.ts";
import type { AdminRequest } from "./operation.ts";
import type { Models, Trial } from "../operator/routing.ts";

/** A lent text stands for the key for this long. Milliseconds. */
const LENT_MS = 60_000;
/** Headers that are credentials, or belong to the connection or to its way. */
const REFUSED =
  /^(authorization|cookie|host|expect|te|trailer|upgrade|origin|referer|keep-alive|connection|transfer-encoding|.*api-key|(content|proxy|sec)-.*|(x-)?forwarded.*|x-real-ip)$/i;
/** Headers of the gateway's answer that concern its connection. */
const OWN = ["connection", "content-encoding", "content-length", "date", "keep-alive", "transfer-encoding"];

type Given = Pick<AdminRequest, "books" | "caller" | "now" | "signal">;

/** Sends a trial to its format's path. @throws AdminError 400, 404, 503 */
export async function sendTrial(given: Given, trial: Trial): Promise<Response> {
  const { formats } = await given.books.gateway.ask({ what: "models" });
  const path = formats.find(({ id }) => id === trial.format)?.path;
  // The URLs of other formats name the model.
  if (path === undefined || /[{:]/.test(path))
    throw invalid(`The console cannot send requests of the format ${trial.format}.`, "/format");
  return send(given, trial, path);
}

/** The plan of the gateway for a trial. @throws AdminError 400, 404, 503 */
export function explainTrial(given: Given, trial: Trial): Promise<Response> {
  return send(given, trial, `/v1/explain?format=${encodeURIComponent(trial.format)}`);
}

/** The answer as it is, for a client of the admin API. */
export function relayed({ status, headers, body }: Response, mark: string): Response {
  const kept = new Headers(headers);
  for (const name of OWN) kept.delete(name);
  kept.set("cache-control", "no-store");
  kept.set("x-content-type-options", "nosniff");
  kept.set(mark, "1");
  return new Response(body, { status, headers: kept });
}

async function send(given: Given, trial: Trial, path: string): Promise<Response> {
  const address = await given.books.gateway.reach();
  if (!address) throw failed("no worker of the gateway is connected at the moment");
  const { url, unix } = address;
  const headers = new Headers({ "content-type": "application/json", ...headersOf(trial) });
  const text = await lend(given, trial.key);
  if (text !== undefined) headers.set("authorization", `Bearer ${text}`);
  const request = {
    method: "POST",
    ...{ headers, signal: given.signal, body: JSON.stringify(trial.body) },
    redirect: "manual",
    // The gateway has its own limits of time.
    timeout: false,
    ...(unix !== undefined && { unix }),
    // It is this gateway, at its address on this machine, which its certificate does not name.
    tls: { rejectUnauthorized: false },
  } as const;
  return fetch(`${url}${path}`, request).catch((cause: unknown) => {
    throw failed(cause instanceof Error ? cause.message : String(cause));
  });
}

function headersOf({ headers = {} }: Trial): Record<string, string> {
  for (const name of Object.keys(headers))
    if (REFUSED.test(name)) throw invalid("The console cannot send this header.", `/headers/${name}`);
  return headers;
}

/** @returns a text that all workers take for the key @throws AdminError 400, 404, 503 */
async function lend(given: Given, name: string | undefined): Promise<string | undefined> {
  const { books, caller, now } = given;
  if (name === undefined && caller.path === "/") return undefined;
  if (name === undefined) throw invalid("Choose a key on your path.", "/key");
  const key = findKey(given, name);
  if (key.kind !== "call") throw invalid("Choose a key for calls.", "/key");
  if (key.person !== undefined && key.person !== caller.actor)
    throw invalid("This key belongs to a person; choose another one.", "/key");
  const text = makeKeyText("call");
  const question = { what: "lend", key: key.id, sha256: digestOf(text), until: now + LENT_MS } as const;
  const lent = await books.gateway.askAll(question);
  if (lent.includes(false)) throw invalid("This key admits no calls.", "/key");
  return text;
}

function failed(sentence: string): AdminError {
  return new AdminError(503, "gateway_failed", `The gateway cannot answer: ${sentence}.`);
}
