/** Asks a moderation model of a provider that weir has: `POST /v1/moderations` of OpenAI. The call is booked on its caller. */
import { Attempt, Call } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { send, upstreamHeaders } from "../../../gateway/lanes/send.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import { type Answer, AskError, type Asker, type Batch, PASSED } from "./asker.ts";
import { answerOf } from "./post.ts";
import { reasonOf } from "./words.ts";

const NAME = "the moderation";

export interface ModerateOptions {
  /** As clients name it: `openai/omni-moderation-latest`. */
  readonly model: string;
  /** Absent: all. */
  readonly categories?: readonly string[];
  /** Score from which a text counts, 0 to 1; absent: the model decides. */
  readonly over?: number;
  readonly images: boolean;
}

type Work = WorkerHost["work"];

export class Moderate implements Asker {
  readonly name = NAME;
  readonly prose = true;
  readonly images: boolean;
  readonly #options: ModerateOptions;
  readonly #timeoutMs: number;
  readonly #work: Work;

  constructor(options: ModerateOptions, timeoutMs: number, work: Work) {
    this.#options = options;
    this.#timeoutMs = timeoutMs;
    this.#work = work;
    this.images = options.images;
  }

  async ask(batch: Batch, signal: AbortSignal): Promise<Answer> {
    const { parent, registry } = batch;
    const { model, categories, over } = this.#options;
    if (!registry) throw new Error(`${NAME} cannot be asked about tools that clients of /mcp call`);
    await registry.prepare(model);
    const target = registry.resolve(model, batch.call.format);
    const results = await this.#work({
      ...{ by: target.provider.name, name: target.model, at: target.deployment.name },
      ...{ payer: parent, parent, units: { call: 1 }, price: { call: 0 }, timeoutMs: this.#timeoutMs },
      run: async ({ id }) => {
        const call = new Call(id, "moderations", new Headers(), parent);
        const attempt = new Attempt(call, target);
        const abort = () => attempt.stop.abort(new GatewayError("timeout", `${NAME} took too long`));
        signal.addEventListener("abort", abort);
        try {
          const url = `${target.deployment.baseUrl.replace(/\/$/, "")}/moderations`;
          const body = [Buffer.from(JSON.stringify({ model: target.model, input: inputOf(batch) }))];
          const headers = upstreamHeaders(target, {}, false);
          const response = await send({ target, url, headers, body, expects: "json" }, attempt);
          return resultsOf(await answerOf(response, NAME));
        } finally {
          signal.removeEventListener("abort", abort);
        }
      },
    });
    for (const result of results) {
      const category = worstOf(result, categories, over);
      if (category !== undefined) return { verdict: "block", kind: reasonOf(category), findings: [] };
    }
    return PASSED;
  }
}

/** Several texts, or with images the parts of one input. */
function inputOf({ texts, images }: Batch) {
  if (images.length === 0) return texts.map(({ text }) => text);
  return [
    ...texts.map(({ text }) => ({ type: "text", text })),
    ...images.map(({ url }) => ({ type: "image_url", image_url: { url } })),
  ];
}

function resultsOf(answer: unknown): JsonObject[] {
  const results = isObject(answer) ? answer["results"] : undefined;
  if (!Array.isArray(results) || results.length === 0 || !results.every(isObject))
    throw new AskError(`the answer of ${NAME} has no results`);
  return results;
}

/** The category that counts most. @returns undefined: none does */
function worstOf(
  { flagged, categories: found, category_scores: scores }: JsonObject,
  wanted: readonly string[] | undefined,
  over: number | undefined,
): string | undefined {
  if (!isObject(found) || !isObject(scores)) throw new AskError(`a result of ${NAME} has no categories`);
  const names = wanted ?? Object.keys(scores);
  const score = (name: string) => {
    const value = scores[name];
    if (typeof value !== "number") throw new AskError(`a result of ${NAME} lacks a category of the config`);
    return value;
  };
  const worst = names
    .filter((name) => (over === undefined ? found[name] === true : score(name) >= over))
    .sort((one, other) => score(other) - score(one));
  if (worst.length > 0 || wanted || over !== undefined) return worst[0];
  return flagged === true ? "flagged" : undefined;
}
