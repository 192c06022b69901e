import { expect, test } from "bun:test";
import { oauthToken } from "../../src/auth/oauth-token.ts";
import type { Place } from "../../src/core/place.ts";

interface Fake {
  place: Place;
  concealed: string[];
  /** Milliseconds. */
  time: number;
}

function fakePlace(): Fake {
  const fake: Fake = {
    time: 1_000_000,
    concealed: [],
    place: {
      name: "p",
      variables: {},
      env: {},
      secret: () => undefined,
      conceal: (value) => void fake.concealed.push(value),
      kept: new Map(),
      fetch: () => Promise.reject(new Error("no network")),
      now: () => fake.time,
    },
  };
  return fake;
}

/** Fetches `token-1`, `token-2` …, each valid for an hour, when the test says so. */
function tokens(expiresInSeconds = 3600) {
  const pending: { resolve(): void; reject(): void }[] = [];
  const fetchToken = () => {
    const { promise, resolve, reject } = Promise.withResolvers<{ token: string; expiresInSeconds: number }>();
    const token = `token-${pending.length + 1}`;
    pending.push({
      resolve: () => resolve({ token, expiresInSeconds }),
      reject: () => reject(new Error("refused")),
    });
    return promise;
  };
  return { pending, fetchToken };
}

test("calls that need a token at the same time share one request, and the token is concealed", async () => {
  const { place, concealed } = fakePlace();
  const { pending, fetchToken } = tokens();
  const asked = Promise.all(Array.from({ length: 50 }, () => oauthToken(place, fetchToken)));
  expect(pending.length).toBe(1);
  pending[0]!.resolve();
  expect(new Set(await asked)).toEqual(new Set(["token-1"]));
  expect(await oauthToken(place, fetchToken)).toBe("token-1");
  expect(pending.length).toBe(1);
  expect(concealed).toEqual(["token-1"]);
});

test("five minutes before its end the token is refreshed while the old one is used, one minute before it is not used", async () => {
  const fake = fakePlace();
  const { pending, fetchToken } = tokens();
  const first = oauthToken(fake.place, fetchToken);
  pending[0]!.resolve();
  await first;
  fake.time += 3600_000 - 5 * 60_000 - 1;
  await oauthToken(fake.place, fetchToken);
  expect(pending.length).toBe(1);
  fake.time += 2;
  expect(await oauthToken(fake.place, fetchToken)).toBe("token-1");
  expect(pending.length).toBe(2);
  fake.time += 4 * 60_000;
  const awaited = oauthToken(fake.place, fetchToken);
  expect(pending.length).toBe(2);
  pending[1]!.resolve();
  expect(await awaited).toBe("token-2");
});

test("a failed refresh is tried again, and fails a call only when the old token is no longer valid", async () => {
  const fake = fakePlace();
  const { pending, fetchToken } = tokens(100);
  const first = oauthToken(fake.place, fetchToken);
  pending[0]!.resolve();
  await first;
  fake.time += 60_000;
  expect(await oauthToken(fake.place, fetchToken)).toBe("token-1");
  pending[1]!.reject();
  await Bun.sleep(0);
  // The next calls use the old token, and do not ask at once again.
  fake.time += 9_000;
  expect(await oauthToken(fake.place, fetchToken)).toBe("token-1");
  expect(pending.length).toBe(2);
  fake.time += 16_000;
  const awaited = oauthToken(fake.place, fetchToken);
  pending[2]!.reject();
  expect(await awaited.catch(String)).toBe("Error: refused");
});

test("a token that weir dropped is fetched anew", async () => {
  const { place } = fakePlace();
  const { pending, fetchToken } = tokens();
  const first = oauthToken(place, fetchToken);
  pending[0]!.resolve();
  await first;
  place.kept.clear();
  const second = oauthToken(place, fetchToken);
  pending[1]!.resolve();
  expect(await second).toBe("token-2");
});
