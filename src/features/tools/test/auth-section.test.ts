/** The option `auth` of servers: what is refused when the config is read. */
import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { authFaults } from "../auth/section.ts";

const KEY = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
  type: "pkcs8",
  format: "pem",
});
const URL = "https://weir.corp.example";

/** As the config is written: secrets are texts there. */
const faultsOf = (auth: object, url: string | undefined = URL) =>
  authFaults(auth as never, url).map(({ clause, at }) => `${at.join(".")}: ${clause}`);

const GOOD: readonly object[] = [
  {},
  { bearer: "x", headers: { "x-team": "search" } },
  { clientCredentials: { client: "weir", secret: "x", issuer: "https://login.corp.example" } },
  { clientCredentials: { client: "weir", key: KEY, tokenUrl: "https://login.corp.example/token" } },
  { user: {} },
  { user: { client: "weir", secret: "x", scope: "read" } },
  { clientHeader: "x-files-token" },
  { exchange: { client: "weir", secret: "x" } },
];

test.each(GOOD)("%o can be", (auth) => {
  expect(faultsOf(auth)).toEqual([]);
});

const BAD: readonly [object, RegExp][] = [
  [{ bearer: "x", user: {} }, /^: only one of/],
  [{ clientHeader: "x-y", clientCredentials: { client: "a", secret: "b" } }, /^: only one of/],
  [{ exchange: { client: "weir" } }, /^exchange: needs client/],
  [{ headers: { host: "evil.example" } }, /^headers.host: /],
  [{ headers: { "a b": "x" } }, /^headers.a b: /],
  [{ clientCredentials: { secret: "x" } }, /needs client/],
  [{ clientCredentials: { client: "weir" } }, /needs client, and secret or key/],
  [{ clientCredentials: { client: "weir", secret: "x", key: KEY } }, /only one of secret and key/],
  [{ clientCredentials: { client: "weir", key: "x" } }, /^clientCredentials.key: must be a private key/],
  [{ user: { client: "weir", issuer: "file:///etc/passwd" } }, /^user.issuer: must be an https/],
  ...[
    "authorization",
    "Cookie",
    "x-api-key",
    "x-goog-api-key",
    "x-weir-person",
    "mcp-session-id",
    "host",
    "a b",
  ].map((name): [object, RegExp] => [{ clientHeader: name }, /^clientHeader: must be the name of a header/]),
];

test.each(BAD)("%o cannot be", (auth, clause) => {
  expect(faultsOf(auth).some((one) => clause.test(one))).toBe(true);
});

test("accounts need an address of weir, and no fault has a secret", () => {
  expect(faultsOf({ user: {} }, "").length + authFaults({ user: {} }, undefined).length).toBeGreaterThan(0);
  expect(faultsOf({ clientCredentials: { client: "weir", key: "planted" } }).join()).not.toContain("planted");
});
