/** Facts about models for lists: prices of the config, and what the files in the binary say. */
import type { FactBook, ModelFacts, ModelPrices } from "../../core/model-facts.ts";
import type { PriceRule } from "../charge.ts";
import { DOLLAR } from "../money.ts";
import { PriceBook } from "./book.ts";
import { factsOfLine } from "./fact-line.ts";
import { CONFIG_SOURCE } from "./price.ts";
import { dollarsOf, type PriceSettings } from "./settings.ts";
import { shippedModels, shippedSnapshot } from "./shipped.ts";

/**
 * Reads the files: some milliseconds, and a megabyte for as long as the process lives.
 * @param settings the section `prices` of the config
 */
export function createFactBook(
  settings: PriceSettings,
  files = { shippedModels, shippedSnapshot },
): FactBook {
  const snapshot = files.shippedSnapshot().buildIndex();
  const models = files.shippedModels().buildIndex();
  const prices = new PriceBook(settings, () => snapshot);
  return {
    ofConfig(provider, model) {
      const rule = prices.lookup(provider, model);
      return rule?.source === CONFIG_SOURCE ? { prices: pricesOf(rule) } : undefined;
    },
    ofSnapshot(provider, model) {
      const rule = prices.lookup(provider, model);
      const line = models.lookup(provider, model);
      if (!rule && !line) return undefined;
      return { ...(line && factsOfLine(line)), ...(rule && boundsOf(rule)) };
    },
  };
}

/** The limits of a rule are those of the snapshot also where the config sets its prices. */
function boundsOf(rule: PriceRule): ModelFacts {
  const { window, maxOutput, source } = rule;
  return {
    ...(window !== undefined && { contextWindow: window }),
    ...(maxOutput !== undefined && { maxOutput }),
    ...(source !== CONFIG_SOURCE && { prices: pricesOf(rule) }),
  };
}

/** Pico-dollars in a dollar. */
const PICO = 1e12;

/** Prices of a short request in the usual tier. */
function pricesOf({
  input = 0,
  output = 0,
  cacheRead,
  cacheWrite,
  reasoning,
  imageIn,
  per,
  units,
}: PriceRule): ModelPrices {
  const { request, search } = per ?? {};
  return {
    input: input / PICO,
    output: output / PICO,
    ...(cacheRead !== undefined && { cacheRead: cacheRead / PICO }),
    ...(cacheWrite !== undefined && { cacheWrite: cacheWrite / PICO }),
    ...(reasoning !== undefined && { reasoning: reasoning / PICO }),
    ...(imageIn !== undefined && { image: imageIn / PICO }),
    ...(request !== undefined && { request: request / DOLLAR }),
    ...(search !== undefined && { search: search / DOLLAR }),
    ...(units && { units: dollarsOf(units) }),
  };
}
