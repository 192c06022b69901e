/** Asks a service in weir's own form: texts with their places in, a verdict with findings out. */
import { createHmac } from "node:crypto";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { type Answer, AskError, type AskedFinding, type Asker, type Batch } from "./asker.ts";
import { type Posted, post } from "./post.ts";
import { toUtf16, type Unit, UNITS } from "./units.ts";
import { apart, kindOf, reasonOf } from "./words.ts";

/** A service of the operator. */
export interface Service {
  readonly url: string;
  /** Of weir's own requests to it. */
  readonly headers: Readonly<Record<string, string>>;
  /** Signs the requests. */
  readonly secret?: string;
  readonly images: boolean;
  /** It says of each piece of an answer how much of it may go on. */
  readonly holds: boolean;
}

export const WEBHOOK = "the webhook";
const VERDICTS = ["pass", "block", "flag"] as const;

export class Webhook implements Asker {
  readonly name = WEBHOOK;
  readonly images: boolean;
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
    this.images = service.images;
  }

  async ask(batch: Batch, signal: AbortSignal): Promise<Answer> {
    const { phase, call, texts, images, tools, final } = batch;
    const answer = await postSigned(
      this.#service,
      {
        ...{ version: 1, phase, call, texts: texts.map((one, index) => ({ index, ...one })) },
        ...(images.length > 0 && { images }),
        ...(tools.length > 0 && { tools }),
        final,
      },
      signal,
    );
    return answerOf(answer, batch, this.#service.holds);
  }
}

/** @param path below the URL of the service */
export function postSigned(
  service: Service,
  value: unknown,
  signal: AbortSignal,
  path = "",
): Promise<unknown> {
  const body = Buffer.from(JSON.stringify(value));
  const { url, headers, secret } = service;
  const posted: Posted = {
    ...{ name: WEBHOOK, url: url.replace(/\/$/, path === "" ? "$&" : "") + path, body },
    headers: { ...headers, ...(secret !== undefined && { "x-weir-signature": signatureOf(secret, body) }) },
  };
  return post(posted, signal);
}

/** `t=1795376321,v1=9f…`: the HMAC-SHA-256 of the time in seconds, a dot and the body. */
function signatureOf(secret: string, body: Uint8Array): string {
  const time = Math.floor(Date.now() / 1000);
  return `t=${time},v1=${createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex")}`;
}

function answerOf(answer: unknown, batch: Batch, holds: boolean): Answer {
  if (!isObject(answer)) throw new AskError("the answer of the webhook is no object");
  const verdict = VERDICTS.find((one) => one === answer["verdict"]);
  if (!verdict) throw new AskError("the answer of the webhook has no verdict that weir knows");
  const kind = reasonOf(answer["code"]);
  // Of a call that is blocked nothing else counts.
  if (verdict === "block") return { verdict, kind, findings: [] };
  const unit = UNITS.find((one) => one === (answer["unit"] ?? "utf16"));
  if (!unit) throw new AskError("the answer of the webhook has a unit that weir does not know");
  return {
    ...{ verdict, kind, findings: findingsOf(answer["findings"], unit, batch) },
    ...(holds && !batch.final && { holds: holdsOf(answer["hold"], unit, batch) }),
  };
}

function findingsOf(findings: unknown, unit: Unit, batch: Batch): AskedFinding[] {
  if (findings === undefined) return [];
  if (!Array.isArray(findings)) throw new AskError("the findings of the webhook are no list");
  return apart(
    findings.map((one: unknown) => {
      if (!isObject(one)) throw new AskError("a finding of the webhook is no object");
      return findingOf(one, unit, batch);
    }),
    WEBHOOK,
  );
}

function findingOf(
  { index, start, end, type, replacement }: JsonObject,
  unit: Unit,
  { texts }: Batch,
): AskedFinding {
  const text = typeof index === "number" ? texts[index] : undefined;
  if (!text) throw new AskError("a finding of the webhook has an index without a text");
  if (replacement !== undefined && typeof replacement !== "string")
    throw new AskError("a finding of the webhook has a replacement that is no text");
  const from = toUtf16(text.text, start, unit);
  const to = toUtf16(text.text, end, unit);
  if (from === undefined || to === undefined || from >= to)
    throw new AskError("a finding of the webhook has a range that is none in its text");
  return {
    ...{ index: index as number, start: from, end: to, kind: kindOf(type) },
    ...(replacement !== undefined && { replacement }),
  };
}

/** @param hold for each text, how much of it may go on */
function holdsOf(hold: unknown, unit: Unit, { texts }: Batch): ReadonlyMap<number, number> {
  if (!Array.isArray(hold) || hold.length !== texts.length)
    throw new AskError("the answer of the webhook does not say for each piece how much of it may go on");
  return new Map(
    texts.map(({ text }, index) => {
      const held = toUtf16(text, hold[index], unit);
      if (held === undefined) throw new AskError("the webhook lets more go on than a piece has");
      return [index, held];
    }),
  );
}
