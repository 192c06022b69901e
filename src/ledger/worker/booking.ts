/** The ledger's entry of one attempt: its expected usage, its holds, and in the end its cost. */
import type { Attempt } from "../../core/call.ts";
import type { Usage } from "../../core/events.ts";
import { type Admitted, HELD_BEFORE, type RequestSize, type WorkTerms } from "../../core/ledger.ts";
import type { PromptSections } from "../../core/prompt-sections.ts";
import type { Charge, PriceRule } from "../charge.ts";
import type { Margin } from "../margins.ts";
import type { Nano } from "../money.ts";
import { countsCalls } from "./line.ts";
import type { Line, Share } from "./share.ts";
import type { Target } from "../../core/provider.ts";
import { batchRule, discountedRule } from "../prices/batch.ts";
import { withRef } from "../prices/book.ts";
import { CONFIG_SOURCE } from "../prices/price.ts";
import { picoOf } from "../prices/settings.ts";

/** A deployment, and how many attempts run there. */
export interface DeploymentLoad {
  readonly deployment: string;
  calls: number;
}

/** Budgets, limits and price that apply to the calls of one key to one target. */
export interface Applied {
  readonly lines: readonly Line[];
  readonly rule: PriceRule | undefined;
  /** The attempts that run at the deployment. */
  readonly running: DeploymentLoad;
  /** The price of another model of the provider. */
  ruleOf(model: string): PriceRule | undefined;
  /** `provider/model`. */
  readonly target: string;
  /** Something is held that depends on the size of the request. */
  readonly needsSize: boolean;
  readonly hasHard: boolean;
  /** A line keeps an account for each session. */
  readonly hasSessions: boolean;
}

/** Notes on a prompt while the provider works on it. */
export interface NotedPrompt {
  /** Identifies the conversation. */
  affinity: string;
  sections: PromptSections;
}

const NO_SHARES: Share[] = [];
const NO_HOLDS: number[] = [];

export class Booking {
  readonly applied: Applied;
  /** The shares of the lines, in their order, and what is held of each. */
  shares: Share[] = NO_SHARES;
  holds: number[] = NO_HOLDS;
  size: RequestSize | undefined;
  /** It is for work, which has no tokens. */
  isWork = false;
  /** Length of the request. Bytes. */
  bytes = 0;
  /** The session, for budgets on sessions. */
  session: string | undefined;
  /** Its prompt, where the provider may cache it. */
  prompt: NotedPrompt | undefined;
  /** The most input that the request has by itself. Tokens. */
  expected = 0;
  /** The margins that would have sufficed; absent if they did. */
  missed: readonly Omit<Margin, "target">[] | undefined;
  /** Tokens that are held for: input at most with the target's margins, output at most, and how much of the output is held so far. */
  input = 0;
  output = 0;
  heldOutput = 0;
  /** Amount that is held for the cost, and the most that the whole answer can cost. */
  cost: Nano = 0;
  fullCost: Nano = 0;
  /** The keeper is asked before anything is held, see {@link HELD_BEFORE}. */
  asksFirst = false;
  /** The charge; present when it is settled. */
  charge: Charge | undefined;
  /** The tokens that it was charged for, where the provider has not counted them all. */
  estimate: Usage | undefined;

  constructor(applied: Applied) {
    this.applied = applied;
  }

  /** The amount that an attempt needs of a line. In the unit of the line. */
  need(line: Line): number {
    if (line.unit === "money") return line.mode === "watch" ? 0 : this.cost;
    return Math.min(line.most, this.#use(line.unit));
  }

  #use(unit: Exclude<Line["unit"], "money">): number {
    switch (unit) {
      case "tpm":
      case "tpd":
        return this.input + this.heldOutput;
      case "itpm":
        return this.input;
      case "otpm":
        return this.heldOutput;
      default:
        return 1;
    }
  }

  /** Whether an earlier attempt of the same call already counts for a share. */
  isCounted(share: Share, attempt: Attempt): boolean {
    if (!countsCalls(share.line) || attempt.call.attempts.length === 0) return false;
    return attempt.call.attempts.some(
      ({ booking }) => booking !== this && booking instanceof Booking && booking.shares.includes(share),
    );
  }
}

/** Nano-dollars that attempts were charged so far. */
export function chargedTo(attempts: readonly Attempt[]): Nano {
  return attempts.reduce(
    (sum, { booking }) => sum + (booking instanceof Booking ? (booking.charge?.cost ?? 0) : 0),
    0,
  );
}

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
export function bookingOf(applied: Applied, attempt: Attempt, { bytes, work }: Admitted): Booking {
  const before = HELD_BEFORE.get(attempt.call);
  const booking = before ? heldBefore(applied, before) : ordinary(applied, attempt.target, work);
  booking.bytes = bytes;
  return booking;
}

function ordinary(applied: Applied, target: Target, work: WorkTerms | undefined): Booking {
  if (!work) return new Booking(applied);
  const { units, price } = work;
  const booking = new Booking(price ? withRule(applied, ruleOf(target, price)) : applied);
  booking.isWork = true;
  booking.size = { ...NO_TEXT, units };
  return booking;
}

/** The rate limits have counted a lost call when it began. */
function heldBefore(applied: Applied, before: "lost" | "goes on"): Booking {
  const isMoney = ({ unit, mode }: Line) => unit === "money" && mode !== "watch";
  const lines = before === "lost" ? applied.lines.filter(({ unit }) => unit === "money") : applied.lines;
  const booking = new Booking({ ...withRule(applied, applied.rule), lines });
  booking.asksFirst = lines.some(isMoney);
  return booking;
}

/** What counts a call at lower prices. @param discount from 0 to 1, or the price of the provider's batches */
export function atDiscount(applied: Applied, discount: number | "bulk"): Applied {
  const { rule, ruleOf } = applied;
  const lower = (found: PriceRule | undefined) =>
    found && (discount === "bulk" ? batchRule(found) : discountedRule(found, discount));
  return { ...withRule(applied, lower(rule)), ruleOf: (model) => lower(ruleOf(model)) };
}

/** Not by a spread, which would look for the rule in the price book. */
function withRule(applied: Applied, rule: PriceRule | undefined): Applied {
  const { lines, running, target, needsSize, hasHard, hasSessions } = applied;
  const ruleOfModel: Applied["ruleOf"] = (model) => applied.ruleOf(model);
  return { lines, running, target, needsSize, hasHard, hasSessions, rule, ruleOf: ruleOfModel };
}

function ruleOf({ provider, model }: Target, price: NonNullable<WorkTerms["price"]>): PriceRule {
  return withRef({ provider: provider.name, model, units: picoOf(price), source: CONFIG_SOURCE });
}
