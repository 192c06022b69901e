/** Looks as the judge gets them, without a gateway: years of them take seconds. */
import type { Observation, OwnSide } from "../observation.ts";
import { NO_HASH } from "../observation.ts";
import { GROUPS, QUESTIONS } from "../questions.ts";
import { FAVOURITES, type Nature, pick } from "./host.ts";

export const HOUR_MS = 3_600_000;
/** 2026-01-05, a Monday. */
export const BEGIN_MS = Date.UTC(2026, 0, 5);

const OWN: OwnSide = { version: "1", plugins: "p", provider: "c", parts: {}, requests: {} };

/** The nature of one simulated provider at a time. */
export interface Simulated extends Nature {
  /** Its speed is this part of what it was: 1.5 takes half as long again. */
  slower?: number;
  /** Another own side of weir. */
  own?: OwnSide;
}

export interface Clocked {
  /** Number of the look, one an hour. */
  readonly hour: number;
  readonly random: () => number;
}

/** A number with the normal distribution. */
export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** The load of a day, which all providers have, and that of this machine. Logarithms. */
export function loadAt(hour: number): number {
  return 0.3 * Math.sin((2 * Math.PI * hour) / 24) + (Math.floor(hour / 24) % 7 > 4 ? -0.2 : 0);
}

/** What a look sees of a model. @param machine how slow this machine is now, a logarithm */
export function observe(
  model: string,
  nature: Simulated,
  { hour, random }: Clocked,
  machine = 0,
): Observation {
  const { hidden = 0, tokenizer, field, header, error, order, lists, price, slower = 1, own = OWN } = nature;
  const tokens = Object.fromEntries(
    QUESTIONS.filter(({ isFaulty }) => !isFaulty).map(({ id, prompt }) => [
      id,
      Math.ceil(prompt.length / 4) + 7 + hidden + (tokenizer && id === "code" ? 1 : 0),
    ]),
  );
  const firstByteMs = 200 * slower * Math.exp(loadAt(hour) + machine + 0.25 * normal(random));
  return {
    ...{
      id: `wit_${hour}`,
      number: hour,
      at: BEGIN_MS + hour * HOUR_MS,
      by: "schedule",
      model,
      own,
      cost: 0,
    },
    ...{ before: NO_HASH, hash: NO_HASH },
    seen: {
      facts: {
        ...{
          fields: `id:string${field ? ` ${field}:boolean` : ""}`,
          headers: `content-type${header ? ` ${header}` : ""}`,
        },
        ...{ error: error ? "400 detail" : "400 error", events: order ? "a > c > b" : "a > b > c" },
        ...{ listed: lists ? `small ${lists}` : "small", model: "small-2026-01" },
      },
      tokens,
      answers: answersOf(nature, random),
      prices: price === undefined ? {} : { prose: { input: 50, output: 2, cost: 58 * price } },
      speed: { firstByteMs, perSecond: 60 / slower / Math.exp(machine + 0.2 * normal(random)) },
      missing: {},
    },
  };
}

function answersOf({ otherShare = 0 }: Nature, random: () => number): Record<string, string> {
  return Object.fromEntries(
    GROUPS.flatMap(({ name, perLook }) => {
      const { answers, usual, other } = FAVOURITES[name]!;
      return Array.from({ length: perLook }, (_, at) => {
        const shares = otherShare > 0 && random() < otherShare ? other : usual;
        const id = perLook === 1 ? name : `${name}-${at + 1}`;
        return [id, answers[pick(shares, random())]!.toLowerCase()];
      });
    }),
  );
}
