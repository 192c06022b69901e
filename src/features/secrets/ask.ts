/** Requests to stores. A redirect is an answer as any other: it would send a credential to an address that no config has. */
import type { PlaceAnswer, PlaceRequest } from "../../core/place.ts";
import type { TlsSettings } from "../../core/provider.ts";
import { isObject, type JsonObject, parseJson } from "../../core/json.ts";
import { createTransport, describeReason, reasonOf } from "../../http/index.ts";

/** Secrets are rarely read: a connection that is kept would only keep commands from ending. */
const transport = createTransport(process.env, { idleMs: 1 });
const directTransport = createTransport({}, { idleMs: 1 });
/** Longest answer of a store. Bytes. */
const MAX_ANSWER = 4 * 1024 * 1024;
/** Longest part of what a store says about a refusal. Characters. */
const MAX_SAID = 200;

export interface Ask extends PlaceRequest {
  stop: AbortSignal;
  tls?: TlsSettings;
}

/** @throws Error with the clause of a sentence about the store: `refused the connection` */
export async function ask({ url, method, headers = {}, body, stop, tls, direct }: Ask): Promise<PlaceAnswer> {
  try {
    const response = await (direct ? directTransport : transport)({
      method: method ?? (body === undefined ? "GET" : "POST"),
      url,
      headers: { "user-agent": "weir", accept: "application/json", ...headers },
      body: body === undefined ? [] : [Buffer.from(body)],
      stop,
      pool: "secrets",
      ...(tls && {
        tls,
        pool: `secrets ${new Bun.CryptoHasher("sha256").update(tls.ca ?? "").digest("hex")}`,
      }),
    });
    const bytes = await response.bytes();
    if (bytes.length > MAX_ANSWER) throw new Error("sent too much");
    return { status: response.status, headers: response.headers, text: Buffer.from(bytes).toString() };
  } catch (cause) {
    if (stop.aborted) throw new Error("did not answer in time");
    const reason = reasonOf(cause);
    throw reason === undefined ? cause : new Error(describeReason(reason));
  }
}

/** The members of an answer. @throws Error with a clause if the answer is none of success */
export function expectObject({ status, text }: PlaceAnswer): JsonObject {
  const found = parseJson(text);
  if (status >= 200 && status < 300 && isObject(found)) return found;
  if (status >= 300 && status < 400) throw new Error("answered with a redirect, which weir does not follow");
  throw new Refused(status, said(found));
}

/** An answer that is none of success. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    reason: string,
  ) {
    super(`answered with status ${status}${reason === "" ? "" : `: ${reason}`}`);
  }
}

/** What stores say about refusals, each in its own member. An answer of success is never quoted. */
function said(answer: unknown): string {
  if (!isObject(answer)) return "";
  const { errors, error, message, Message, __type: type } = answer;
  const inner = isObject(error) ? (error["message"] ?? error["code"]) : error;
  const texts = [...(Array.isArray(errors) ? errors : []), inner, message ?? Message, type];
  const found = texts.find((text): text is string => typeof text === "string" && text !== "");
  return (found ?? "").replace(/\s+/g, " ").slice(0, MAX_SAID);
}
