/** Booking of work that is charged by units. */
import type { RequestSize, WorkTerms } from "../../core/ledger.ts";
import type { Target } from "../../core/provider.ts";
import type { PriceRule } from "../charge.ts";
import { withRef } from "../prices/book.ts";
import { CONFIG_SOURCE } from "../prices/price.ts";
import { picoOf } from "../prices/settings.ts";
import { type Applied, Booking } from "./booking.ts";

/** A request without text, for no answer of a model. */
const NO_TEXT: RequestSize = {
  text: { words: 0, digits: 0, signs: 0, scripts: 0 },
  structure: 0,
  mediaTokens: 0,
  hasTools: false,
  hasServerTools: false,
  maxTokens: 0,
  choices: 1,
};

/** @param applied what counts calls to the target; work may have a price of its own */
export function bookingOf(applied: Applied, target: Target, work: WorkTerms | undefined): Booking {
  if (!work) return new Booking(applied);
  const { units, price } = work;
  const booking = new Booking(price ? withRule(applied, ruleOf(target, price)) : applied);
  booking.isWork = true;
  booking.size = { ...NO_TEXT, units };
  return booking;
}

/** Not by a spread, which would look for the rule in the price book. */
function withRule(applied: Applied, rule: PriceRule): Applied {
  const { lines, running, target, needsSize, hasHard, hasSessions } = applied;
  const ruleOfModel: Applied["ruleOf"] = (model) => applied.ruleOf(model);
  return { lines, running, target, needsSize, hasHard, hasSessions, rule, ruleOf: ruleOfModel };
}

function ruleOf({ provider, model }: Target, price: NonNullable<WorkTerms["price"]>): PriceRule {
  return withRef({ provider: provider.name, model, units: picoOf(price), source: CONFIG_SOURCE });
}
