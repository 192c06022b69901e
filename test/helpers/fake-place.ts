/** A deployment as `authorize` sees it, whose requests to token endpoints a test answers. */
import type { Place, PlaceAnswer, PlaceRequest } from "../../src/core/place.ts";

export interface FakePlace {
  place: Place;
  /** What was asked of token endpoints. */
  asked: PlaceRequest[];
  concealed: string[];
  /** Milliseconds since 1970. */
  time: number;
}

export interface FakePlaceOptions {
  secrets?: Record<string, string>;
  variables?: Record<string, string>;
  env?: Record<string, string>;
  /** Answers the request of this number, from 1 on. Default: a token for an hour. */
  answer?(number: number): TokenAnswer;
}

interface TokenAnswer {
  /** Default 200. */
  status?: number;
  body: unknown;
}

export function fakePlace(options: FakePlaceOptions = {}): FakePlace {
  const { secrets = {}, variables = {}, env = {} } = options;
  const answer: (number: number) => TokenAnswer = options.answer ?? freshToken;
  const fake: FakePlace = {
    asked: [],
    concealed: [],
    time: Date.UTC(2026, 0, 1),
    place: {
      name: "p",
      variables,
      env,
      secret: (name) => secrets[name],
      conceal: (value) => void fake.concealed.push(value),
      kept: new Map(),
      fetch: (request): Promise<PlaceAnswer> => {
        fake.asked.push(request);
        const { status = 200, body } = answer(fake.asked.length);
        return Promise.resolve({ status, headers: new Headers(), text: JSON.stringify(body) });
      },
      now: () => fake.time,
    },
  };
  return fake;
}

function freshToken(number: number): TokenAnswer {
  return { body: { access_token: `token-${number}`, expires_in: 3600 } };
}

/** The fields of a form. */
export function fieldsOf({ body = "" }: PlaceRequest): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(body));
}
