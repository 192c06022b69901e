/** The forms in which services of other gateways are asked: each says where it sends what, and reads what comes back. */
import { type Answer, AskError, type AskedFinding, type Asker, type Batch } from "../asker.ts";
import { postSigned, type Service, WEBHOOK } from "../webhook.ts";

export interface Form {
  /** Below the URL of the service. */
  path(batch: Batch): string;
  request(batch: Batch): unknown;
  /** @throws AskError for what is no answer of the form */
  answer(value: unknown, batch: Batch, holds: boolean): Answer;
}

export class FormWebhook implements Asker {
  readonly name = WEBHOOK;
  readonly images: boolean;
  readonly #service: Service;
  readonly #form: Form;

  constructor(service: Service, form: Form) {
    this.#service = service;
    this.#form = form;
    this.images = service.images;
  }

  async ask(batch: Batch, signal: AbortSignal): Promise<Answer> {
    const path = this.#form.path(batch);
    const { url } = this.#service;
    const value = await postSigned(
      this.#service,
      this.#form.request(batch),
      signal,
      url.endsWith(path) ? "" : path,
    );
    return this.#form.answer(value, batch, this.#service.holds);
  }
}

/**
 * What changes between the texts that a service got and those that it gives back.
 * @throws AskError if it gives back others
 */
export function rewritten(batch: Batch, texts: readonly unknown[]): AskedFinding[] {
  if (texts.length !== batch.texts.length)
    throw new AskError(`${WEBHOOK} gives back ${texts.length} texts for ${batch.texts.length}`);
  return batch.texts.flatMap(({ text: given }, index) => {
    const text = texts[index];
    if (typeof text !== "string") throw new AskError(`${WEBHOOK} gives back something that is no text`);
    return text === given ? [] : [{ index, ...difference(given, text), kind: "TEXT", isRewrite: true }];
  });
}

/** The smallest part of a text of which another one is made. It is never empty. */
function difference(given: string, text: string): { start: number; end: number; replacement: string } {
  const shorter = Math.min(given.length, text.length);
  let start = 0;
  while (start < shorter && given[start] === text[start]) start++;
  let tail = 0;
  while (tail < shorter - start && given.at(-1 - tail) === text.at(-1 - tail)) tail++;
  // No surrogate pair is cut, and what is only put in stands for a character next to it.
  while (start > 0 && (isLow(given[start]) || isLow(text[start]) || start === given.length - tail)) start--;
  while (tail > 0 && (isLow(given.at(-tail)) || isLow(text.at(-tail)) || start === given.length - tail))
    tail--;
  return { start, end: given.length - tail, replacement: text.slice(start, text.length - tail) };
}

function isLow(unit: string | undefined): boolean {
  return unit !== undefined && unit >= "\udc00" && unit < "\ue000";
}
