/** Prices of models as the config of a command has them: aliases and routes are followed, and no gateway is asked. */
import { configOptions, type Context } from "../../../cli/command.ts";
import { readConfig } from "../../../config/load.ts";
import { PriceBook } from "../../../ledger/prices/book.ts";
import { assemble } from "../../../run/assemble.ts";
import { declarationOf } from "../../../run/declaration.ts";
import { builtInFormats } from "../../../run/formats.ts";
import { type PriceAsk, priceBatch, type PricedBatch } from "../price.ts";
import { batchesSection } from "../section.ts";

export type ModelPrices = Pick<PriceAsk, "ruleOf" | "settings" | "discount" | "outputShare">;

/** @throws Error with a sentence if the config cannot be used */
export async function modelPrices(context: Context): Promise<ModelPrices> {
  const { config, locate } = await readConfig(configOptions(context));
  const { registry } = await assemble(config, context.env, locate, { features: context.ownPlugins });
  const book = new PriceBook(config.prices);
  const { discount } = batchesSection.of(config);
  return {
    discount,
    settings: declarationOf(config).settings,
    ruleOf(model) {
      const [first] = registry.servedBy(model);
      if (first) return book.lookup(first.provider.name, first.model);
      // Of a provider that has no credential here, to know what it would cost there.
      const slash = model.indexOf("/");
      return slash < 0 ? undefined : book.lookup(model.slice(0, slash), model.slice(slash + 1));
    },
  };
}

export function priceLines(
  chunks: AsyncIterable<Uint8Array>,
  ask: Omit<PriceAsk, "formats">,
): Promise<PricedBatch> {
  return priceBatch(chunks, { ...ask, formats: builtInFormats({ systemTurns: "accept" }) });
}
