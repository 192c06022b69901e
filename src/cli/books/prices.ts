/** `weir prices`: what weir charges for a model, where the price is from, and which models have none. */
import { loadConfig } from "../../config/load.ts";
import type { BucketPrices, PriceRule } from "../../ledger/charge.ts";
import { matchesModel, namesOf } from "../../core/model-pattern.ts";
import { OLD_DAYS, priceBookDays } from "../../ledger/prices/age.ts";
import { PriceBook } from "../../ledger/prices/book.ts";
import { BUCKETS, dollarsOf, type PriceSettings } from "../../ledger/prices/settings.ts";
import { shippedSnapshot } from "../../ledger/prices/shipped.ts";
import { type Command, CONFIG_FLAGS, configOptions, type Context, JSON_FLAG } from "../command.ts";
import { bookCommand } from "./command.ts";
import { table } from "../terminal.ts";
import { showCount } from "./show.ts";

/** The prices of the price book and of the config, without a gateway. */
interface Prices {
  settings: PriceSettings;
  book: PriceBook;
  /** Names of all models of the price book: provider and model. */
  names: readonly (readonly [provider: string, model: string])[];
}

function readPrices(context: Context): Prices {
  const { config } = loadConfig(configOptions(context));
  const settings = config.prices;
  const names = shippedSnapshot()
    .lines()
    .map(({ provider, model }) => [provider, model] as const);
  return { settings, book: new PriceBook(settings), names };
}

const pricesShow: Command = {
  name: "prices show",
  summary: "show prices of models whose name contains a text, in dollars a million tokens",
  words: [{ name: "MODEL" }],
  flags: [...CONFIG_FLAGS, JSON_FLAG],
  async run(context) {
    const { words, flags, print, printError } = context;
    const wanted = words[0]!.toLowerCase();
    const { settings, book, names } = readPrices(context);
    const own = Object.keys(settings).flatMap((name) => {
      const slash = name.indexOf("/");
      return slash < 0 || name.includes("*") ? [] : [[name.slice(0, slash), name.slice(slash + 1)] as const];
    });
    const found = [...own, ...names].filter((name) => name.join("/").toLowerCase().includes(wanted));
    const rules = new Map(
      found.map(([provider, model]) => [`${provider}/${model}`, book.lookup(provider, model)]),
    );
    const priced = [...rules].flatMap(([name, rule]) => (rule ? [[name, rule] as const] : []));
    if (flags["--json"])
      print(
        JSON.stringify(
          priced.map(([, rule]) => rule),
          null,
          2,
        ),
      );
    else if (priced.length > 0) print(priceTable(priced));
    if (priced.length === 0)
      printError(`weir: no price of a model is known whose name contains "${words[0]}"`);
    return priced.length === 0 ? 1 : 0;
  },
};

const SHOWN = [
  "input",
  "cacheRead",
  "cacheWrite",
  "output",
] as const satisfies readonly (keyof BucketPrices)[];

function priceTable(priced: readonly (readonly [string, PriceRule])[]): string {
  const rows = priced.map(([name, rule]) => [
    name,
    ...SHOWN.map((bucket) => dollars(rule[bucket])),
    otherPrices(rule),
    rule.source,
  ]);
  return table([
    ["model", "input", "cache read", "cache write", "output", "other prices", "source"],
    ...rows,
  ]);
}

function otherPrices({ tiers = [], units = {} }: PriceRule): string {
  const each = Object.entries(dollarsOf(units)).map(([unit, price]) => `$${price} a ${unit}`);
  return [...tiers.map(({ above }) => `above ${showCount(above)} tokens`), ...each].join(", ");
}

/** Pico-dollars a token are millionths of dollars a million tokens. */
function dollars(pico: number | undefined): string {
  return pico === undefined ? "" : String(pico / 1e6);
}

interface Difference {
  model: string;
  bucket: string;
  /** Dollars a million tokens. */
  book?: number;
  config?: number;
}

const pricesDiff: Command = {
  name: "prices diff",
  summary: "show where the config sets other prices than the price book",
  words: [],
  flags: [...CONFIG_FLAGS, JSON_FLAG],
  async run(context) {
    const { flags, print } = context;
    const { settings, book, names } = readPrices(context);
    const differences = names
      .filter(([provider, model]) =>
        Object.keys(settings).some((pattern) => matchesModel(pattern, namesOf(provider, model))),
      )
      .flatMap(([provider, model]) => differencesOf(provider, model, book));
    if (flags["--json"]) print(JSON.stringify(differences, null, 2));
    else if (differences.length === 0) print("The config changes no price of the price book.");
    else {
      const show = (amount: number | undefined) => (amount === undefined ? "none" : String(amount));
      const rows = differences.map((one) => [one.model, one.bucket, show(one.book), show(one.config)]);
      print(table([["model", "tokens", "price book", "config"], ...rows]));
    }
    return 0;
  },
};

function differencesOf(provider: string, model: string, book: PriceBook): Difference[] {
  const shipped = shippedSnapshot().find(provider, model);
  const set = book.lookup(provider, model);
  return BUCKETS.filter((bucket) => shipped?.[bucket] !== set?.[bucket]).map((bucket) => ({
    model: `${provider}/${model}`,
    bucket,
    ...(shipped?.[bucket] !== undefined && { book: shipped[bucket] / 1e6 }),
    ...(set?.[bucket] !== undefined && { config: set[bucket] / 1e6 }),
  }));
}

const pricesCheck: Command = {
  name: "prices check",
  summary: "show the age of the price book; exits with 1 if it is old",
  words: [],
  flags: [...CONFIG_FLAGS, JSON_FLAG],
  async run(context) {
    const { flags, print } = context;
    const { settings, names } = readPrices(context);
    const { date, source, version, licence } = shippedSnapshot().head;
    const days = priceBookDays(Date.now());
    const isOld = days > OLD_DAYS;
    const result = {
      source,
      version,
      licence,
      date,
      days,
      models: names.length,
      fromConfig: Object.keys(settings).length,
    };
    if (flags["--json"]) print(JSON.stringify({ ...result, isOld }, null, 2));
    else
      print(
        [
          `${showCount(names.length)} models from ${source} ${version} (${licence}), imported on ${date}, ${days} days ago.`,
          `The config sets ${result.fromConfig} prices.`,
          ...(isOld
            ? [
                `The price book is older than ${OLD_DAYS} days: new models have no price, and prices may have changed.`,
              ]
            : []),
        ].join("\n"),
      );
    return isOld ? 1 : 0;
  },
};

const pricesMissing = bookCommand({
  name: "prices missing",
  summary: "list the models that were used without a price",
  async run({ api, show }) {
    const { models } = await api.ask("GET /prices/missing");
    show(models, () => {
      const [first] = models;
      if (first === undefined) return "Every model that was used has a price.";
      const rows = models.map(({ provider, model, calls }) => [`${provider}/${model}`, showCount(calls)]);
      return [
        table([["model", "calls"], ...rows]),
        "Set a price in weir.yaml, in dollars a million tokens:",
        "  prices:",
        `    "${first.provider}/${first.model}": {input: 1, output: 2}`,
      ].join("\n");
    });
  },
});

export const PRICE_COMMANDS: readonly Command[] = [pricesShow, pricesMissing, pricesDiff, pricesCheck];
