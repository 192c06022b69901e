/** What an input would cost with several models. Nothing is sent, and no gateway is needed. */
import type { Format } from "../../core/format.ts";
import { NO_USAGE } from "../../core/events.ts";
import type { PriceRule } from "../../ledger/charge.ts";
import type { Nano } from "../../ledger/money.ts";
import { batchRule, discountedRule } from "../../ledger/prices/batch.ts";
import { priceUsage } from "../../ledger/prices/price.ts";
import { inputLikely } from "../../core/tokens/likely.ts";
import { costOf, inputAtMost, outputAtMost } from "../../ledger/worker/estimate.ts";
import { DEFAULT_SETTINGS, type LedgerSettings } from "../../ledger/worker/settings.ts";
import type { LineFault } from "./batch.ts";
import { checkInput } from "./lines/check-input.ts";
import { lineSizer } from "./lines/size-line.ts";

export interface PriceAsk {
  /** Path that each line asks: `/v1/chat/completions`. */
  readonly endpoint: string;
  /** Models as people write them. Empty: each line with the model that it names. */
  readonly models: readonly string[];
  /** Most lines of the input; default: no limit. */
  readonly lines?: number;
  /** `batches.discount` and `batches.outputShare` of the config. */
  readonly discount?: number;
  readonly outputShare?: number;
  /** Output tokens to expect of each line, if it permits that much. Default: all that it permits. */
  readonly output?: number;
  /** Price of a model; undefined: it is not known. A book has it by `lookup(provider, model)`. */
  ruleOf(model: string): PriceRule | undefined;
  /** The formats of weir: `builtInFormats` of run/formats.ts. */
  readonly formats: readonly Format[];
  /** Of the config; default: those of a config that says nothing. */
  readonly settings?: LedgerSettings;
}

/** Amounts of all lines. */
export interface BatchCost {
  /** The text of the lines as a tokenizer would count it, and the output that is expected: else all that each line permits. */
  readonly cost: Nano;
  /** What weir holds before the lines run: no line with these limits costs more. */
  readonly most: Nano;
}

/** What an input would cost with one model. */
export interface ModelPrice {
  readonly model: string;
  readonly lines: number;
  /** Tokens of `cost`. */
  readonly input: number;
  readonly output: number;
  /** Run by weir, with `discount`. Absent: the price is not known. */
  readonly run?: BatchCost;
  /** In a batch of the provider, if it has such. Absent: the price is not known. */
  readonly native?: BatchCost;
}

export interface PricedBatch {
  /** In the order of `models`; of the lines, in the order in which they name them. */
  readonly models: readonly ModelPrice[];
  /** Why the input would be refused, at most 100 faults: then the amounts are those of the lines without a fault. */
  readonly faults: readonly LineFault[];
}

/**
 * Prices each line as a call of its own, so that tiers for long requests count by line. A limit of output tokens in a line counts,
 * else that of the model, times `outputShare`.
 * @param chunks bytes of a JSONL file @throws Error for an endpoint that lines cannot have
 */
export async function priceBatch(chunks: AsyncIterable<Uint8Array>, ask: PriceAsk): Promise<PricedBatch> {
  const { endpoint, models, lines = Number.MAX_SAFE_INTEGER } = ask;
  const sizeOfLine = lineSizer(ask.formats, endpoint);
  const sums = new Map(models.map((model) => [model, new ModelSum(model, ask)]));
  const { faults } = await checkInput(chunks, {
    ...{ endpoint, lines, sharedIds: endpoint.startsWith("/v1beta/") },
    visit({ model }, body, line) {
      if (models.length === 0 && !sums.has(model)) sums.set(model, new ModelSum(model, ask));
      let size: ReturnType<typeof sizeOfLine>;
      try {
        size = sizeOfLine(body);
      } catch (thrown) {
        return { code: "invalid_body", line, message: (thrown as Error).message, param: "body" };
      }
      for (const sum of models.length === 0 ? [sums.get(model)!] : sums.values()) sum.add(size);
      return undefined;
    },
  });
  return { models: [...sums.values()].map((sum) => sum.price), faults };
}

class ModelSum {
  readonly #model: string;
  readonly #rules: { readonly run: PriceRule; readonly native: PriceRule } | undefined;
  readonly #rule: PriceRule | undefined;
  readonly #share: number;
  readonly #expected: number;
  readonly #settings: LedgerSettings;
  readonly #sums = { run: { cost: 0, most: 0 }, native: { cost: 0, most: 0 } };
  #lines = 0;
  #input = 0;
  #output = 0;

  constructor(
    model: string,
    { ruleOf, discount = 0, outputShare = 1, output = Infinity, settings = DEFAULT_SETTINGS }: PriceAsk,
  ) {
    const rule = (this.#rule = ruleOf(model));
    this.#model = model;
    this.#rules = rule && { run: discountedRule(rule, discount), native: batchRule(rule) };
    this.#share = outputShare;
    this.#expected = output;
    this.#settings = settings;
  }

  add(size: ReturnType<ReturnType<typeof lineSizer>>): void {
    const settings = this.#settings;
    const most = inputAtMost(size, this.#rule, 0, settings);
    const input = Math.min(inputLikely(size), most);
    const permitted = Math.ceil(outputAtMost(size, this.#rule, settings) * this.#share);
    const output = Math.min(permitted, this.#expected * size.choices);
    this.#lines++;
    this.#input += input;
    this.#output += output;
    if (!this.#rules) return;
    const { tier, speed } = size;
    const usage = {
      ...NO_USAGE,
      input,
      output,
      ...(tier !== undefined && { tier }),
      ...(speed !== undefined && { speed }),
    };
    for (const how of ["run", "native"] as const) {
      const rule = this.#rules[how];
      this.#sums[how].cost += priceUsage(usage, rule).cost;
      this.#sums[how].most += costOf(rule, most, permitted, size, settings);
    }
  }

  get price(): ModelPrice {
    return {
      ...{ model: this.#model, lines: this.#lines, input: this.#input, output: this.#output },
      ...(this.#rules && { run: { ...this.#sums.run }, native: { ...this.#sums.native } }),
    };
  }
}
