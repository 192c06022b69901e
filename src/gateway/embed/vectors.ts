/**
 * The vectors of a call so far. They are kept from attempt to attempt: all deployments of a model embed alike, so that a retry
 * asks only for what is missing.
 */
import type { Attempt } from "../../core/call.ts";
import type { WholeAnswer } from "../../core/embed-dialect.ts";
import type { EmbedAnswer, EmbedRequest, EmbedUsage } from "../../core/embed.ts";
import { GatewayError } from "../../core/error.ts";
import { TextEstimate } from "../../core/estimate.ts";
import { NO_USAGE } from "../../core/events.ts";

export class Vectors {
  readonly #request: EmbedRequest;
  readonly #found: (ArrayLike<number> | undefined)[];
  #left: number;
  #usage: EmbedUsage | undefined;
  /** A part came without token counts. */
  #isUncounted = false;
  #model: string | undefined;

  constructor(request: EmbedRequest) {
    this.#request = request;
    this.#left = request.inputs.length;
    this.#found = Array.from({ length: this.#left });
  }

  /** No vector is known yet. */
  get isEmpty(): boolean {
    return this.#left === this.#found.length;
  }

  /** The places of the inputs without a vector, in lists of at most `size`. */
  missing(size: number): number[][] {
    const places = this.#found.flatMap((vector, place) => (vector ? [] : [place]));
    return Array.from({ length: Math.ceil(places.length / size) }, (_, part) =>
      places.slice(part * size, (part + 1) * size),
    );
  }

  /**
   * Adds the vectors for the inputs at `places`.
   * @throws GatewayError `upstream` if there are fewer or more of them, or if one is no vector of the same length as the others
   */
  add(places: readonly number[], { vectors, usage, model }: EmbedAnswer, attempt: Attempt): void {
    if (vectors.length !== places.length)
      throw unusable(attempt, `sent ${vectors.length} vectors for ${places.length} inputs`);
    const length = (this.#found.find(Boolean) ?? vectors[0])?.length ?? 0;
    if (vectors.some((vector) => vector.length !== length || length === 0))
      throw unusable(attempt, "sent vectors of different lengths");
    places.forEach((place, index) => (this.#found[place] = vectors[index]));
    this.#left -= places.length;
    this.#model ??= model;
    if (!usage) return void (this.#isUncounted = true);
    this.#usage = sum(this.#usage, usage);
    recordUsage(usage, attempt);
  }

  /** The answer for the client. Tokens that the provider did not count are estimated. */
  answer(attempt: Attempt): WholeAnswer {
    return {
      vectors: this.#found as ArrayLike<number>[],
      usage: this.#isUncounted || !this.#usage ? this.#estimate(attempt) : this.#usage,
      model: this.#model ?? attempt.target.model,
    };
  }

  #estimate(attempt: Attempt): EmbedUsage {
    const input = estimateInputs(this.#request);
    attempt.estimated = { input, output: 0 };
    return { input };
  }
}

/** Adds counts to those of the attempt. */
export function recordUsage(usage: EmbedUsage, attempt: Attempt): void {
  const { input, reported } = sum({ input: attempt.usage.input, reported: attempt.usage.reported }, usage);
  attempt.usage = { ...NO_USAGE, input, ...(reported !== undefined && { reported }), known: "final" };
}

function sum(before: EmbedUsage | undefined, { input, reported }: EmbedUsage): EmbedUsage {
  const price = before?.reported === undefined ? reported : before.reported + (reported ?? 0);
  return { input: (before?.input ?? 0) + input, ...(price !== undefined && { reported: price }) };
}

/** Estimated tokens of all inputs, at least 1. */
function estimateInputs({ inputs }: EmbedRequest): number {
  const texts = new TextEstimate();
  let ids = 0;
  for (const input of inputs) {
    if (typeof input === "string") texts.add(input);
    else ids += input.length;
  }
  return Math.max(1, texts.tokens + ids);
}

/** The error for an answer whose vectors the client could not use. */
export function unusable({ target }: Attempt, what: string): GatewayError {
  return new GatewayError("upstream", `The provider ${target.provider.name} ${what}.`, {
    code: "upstream_invalid_answer",
  });
}
