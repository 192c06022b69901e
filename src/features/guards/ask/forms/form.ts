/** The forms in which services of other gateways are asked: each says where it sends what, and reads what comes back. */
import { type Answer, AskError, type AskedFinding, type Asker, type Batch } from "../asker.ts";
import { differences } from "./difference.ts";
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
    return differences(given, text).map(({ start, end, text: replacement }) => ({
      ...{ index, start, end, replacement, kind: "TEXT", isRewrite: true },
    }));
  });
}
