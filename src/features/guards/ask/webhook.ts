/** Asks a service in weir's own form: texts with their places in, a verdict with findings out. */
import { isObject } from "../../../core/json.ts";
import { type Answer, AskError, type AskedFinding, type Asker, type Batch } from "./asker.ts";
import { post } from "./post.ts";

export interface WebhookTarget {
  readonly url: string;
}

const VERDICTS = ["pass", "block", "flag"] as const;

export class Webhook implements Asker {
  readonly name = "the webhook";
  readonly #target: WebhookTarget;

  constructor(target: WebhookTarget) {
    this.#target = target;
  }

  async ask(batch: Batch, signal: AbortSignal): Promise<Answer> {
    const { phase, call, texts, images, tools, final } = batch;
    const body = JSON.stringify({
      ...{ version: 1, phase, call, texts: texts.map((one, index) => ({ index, ...one })) },
      ...(images.length > 0 && { images }),
      ...(tools.length > 0 && { tools }),
      final,
    });
    const { url } = this.#target;
    const answer = await post({ name: this.name, url, headers: {}, body: Buffer.from(body) }, signal);
    return answerOf(answer, batch);
  }
}

function answerOf(answer: unknown, batch: Batch): Answer {
  if (!isObject(answer)) throw new AskError("the answer of the webhook is no object");
  const verdict = VERDICTS.find((one) => one === answer["verdict"]);
  if (!verdict) throw new AskError("the answer of the webhook has no verdict that weir knows");
  return { verdict, findings: findingsOf(answer["findings"], batch) };
}

function findingsOf(findings: unknown, { texts }: Batch): AskedFinding[] {
  if (findings === undefined) return [];
  if (!Array.isArray(findings)) throw new AskError("the findings of the webhook are no list");
  return findings.map((one: unknown) => {
    if (!isObject(one)) throw new AskError("a finding of the webhook is no object");
    const { index, start, end, type } = one;
    const text = typeof index === "number" ? texts[index] : undefined;
    if (!text) throw new AskError("a finding of the webhook has an index without a text");
    if (typeof start !== "number" || typeof end !== "number" || !(start >= 0 && start < end))
      throw new AskError("a finding of the webhook has no range");
    if (end > text.text.length) throw new AskError("a finding of the webhook ends behind its text");
    return { index: index as number, start, end, kind: String(type) };
  });
}
