/** The section of the config: what is accepted, and the sentences for what is not. */
import { expect, test } from "bun:test";
import { entriesOf } from "../entries.ts";
import { faultOf, loadSection } from "./support/load.ts";

const JWT = { issuer: "https://idp.example", audience: "weir", path: "/ci/{sub}" };

test("without issuers identity is off", () => {
  expect(loadSection({})).toEqual({
    ...{ providers: {}, jwt: [], people: [], keys: [], unknown: "refuse", create: { under: "/people" } },
    ...{ session: "12h", tokens: { access: "1h", refresh: "30d" }, scim: {}, strict: false, only: false },
    clients: { "claude-code": true, mcp: true, dcr: false },
  } as never);
});

const PEOPLE = { issuer: "https://idp.example", audience: "weir" };
const SCIM = { token: "planted-scim-token-0123456789-abcdefgh" };

const FAULTS: readonly [string, object, RegExp][] = [
  [
    "a short token of SCIM",
    { providers: { okta: PEOPLE }, scim: { token: "short" } },
    /token must have at least 32/,
  ],
  ["SCIM without a provider", { scim: SCIM }, /write provider: there is none.*identity\.scim/],
  [
    "SCIM with two providers",
    { providers: { okta: PEOPLE, entra: { ...PEOPLE, issuer: "https://other.example" } }, scim: SCIM },
    /does not say whose people they are; write provider: one of okta, entra/,
  ],
  [
    "SCIM for an unknown provider",
    { providers: { okta: PEOPLE }, scim: { ...SCIM, provider: "toString" } },
    /provider "toString" is not known: one of okta/,
  ],
  ["a link without SCIM", { providers: { okta: PEOPLE }, link: "email" }, /link is for users of SCIM/],
  [
    "http elsewhere",
    { jwt: [{ ...JWT, issuer: "http://idp.example" }] },
    /issuer must begin with https.*jwt\[0\]\.issuer/,
  ],
  ["no scheme", { jwt: [{ ...JWT, issuer: "idp.example" }] }, /issuer must be a URL/],
  ["a password", { jwt: [{ ...JWT, issuer: "https://a:b@idp.example" }] }, /must not contain a user name/],
  ["a query", { jwt: [{ ...JWT, issuer: "https://idp.example?x=1" }] }, /must not have a query/],
  ["no audience", { jwt: [{ issuer: JWT.issuer, path: JWT.path }] }, /audience/],
  ["an empty audience", { jwt: [{ ...JWT, audience: [" "] }] }, /audience is empty/],
  ["keys over http", { jwt: [{ ...JWT, jwks: "http://idp.example/keys" }] }, /jwks must begin with https/],
  ["two key sets of one issuer", { jwt: [JWT, { ...JWT, jwks: "keys.json" }] }, /jwks differs/],
  [
    "a person of no issuer",
    { jwt: [JWT], people: [{ subject: "a" }] },
    /needs either provider or issuer.*people\[0\]/,
  ],
  [
    "a person of another issuer",
    { jwt: [JWT], people: [{ issuer: "https://idp.example/", subject: "a" }] },
    /issuer https:\/\/idp\.example\/ is that of no entry/,
  ],
  [
    "a person of an unknown provider",
    { jwt: [JWT], people: [{ provider: "okta", subject: "a" }] },
    /provider "okta" is none of identity\.providers/,
  ],
  ["a person without a name", { jwt: [JWT], people: [{ issuer: JWT.issuer }] }, /either subject or email/],
  [
    "a person with two",
    { jwt: [JWT], people: [{ issuer: JWT.issuer, subject: "a", email: "a@b" }] },
    /either subject or email/,
  ],
  [
    "a grant on no path",
    { jwt: [JWT], people: [{ issuer: JWT.issuer, subject: "a", grants: [{ member: "eng" }] }] },
    /member must begin.*people\[0\]\.grants\[0\]\.member/,
  ],
  [
    "a grant of no role",
    { jwt: [JWT], people: [{ issuer: JWT.issuer, subject: "a", grants: [{}] }] },
    /a grant needs a role/,
  ],
  [
    "an unknown role",
    { jwt: [JWT], people: [{ issuer: JWT.issuer, subject: "a", grants: [{ owner: "/" }] }] },
    /owner/,
  ],
  ["alg none", { jwt: [{ ...JWT, algorithms: ["none"] }] }, /algorithms/],
  ["alg HS256", { jwt: [{ ...JWT, algorithms: ["HS256"] }] }, /algorithms/],
  ["no path", { jwt: [{ issuer: JWT.issuer, audience: "weir" }] }, /path/],
  ["a claim chooses the tree", { jwt: [{ ...JWT, path: "/{sub}/x" }] }, /begin with a part that is no claim/],
  ["a claim as the whole path", { jwt: [{ ...JWT, path: "/{sub}" }] }, /begin with a part that is no claim/],
  ["a path without a slash", { jwt: [{ ...JWT, path: "ci/{sub}" }] }, /path must begin with a slash/],
  [
    "GitHub for everybody",
    { jwt: [{ ...JWT, issuer: "https://token.actions.githubusercontent.com" }] },
    /everybody can get a token.*repository_owner/,
  ],
  [
    "GitHub by a claim that says nothing",
    {
      jwt: [
        { ...JWT, issuer: "https://token.actions.githubusercontent.com", when: { ref: "refs/heads/main" } },
      ],
    },
    /everybody/,
  ],
  ["GitLab for everybody", { jwt: [{ ...JWT, issuer: "https://gitlab.com" }] }, /everybody/],
  [
    "Google for everybody",
    { providers: { google: { issuer: "https://accounts.google.com", audience: "x" } } },
    /everybody.*require/,
  ],
  ["a group without a role", { jwt: [{ ...JWT, groups: { a: {} } }] }, /needs a role/],
  ["an unknown role", { jwt: [{ ...JWT, groups: { a: { owner: "/" } } }] }, /owner/],
  ["{1} without a star", { jwt: [{ ...JWT, groups: { a: { member: "/x/{1}" } } }] }, /has no \*/],
  [
    "a group on no path",
    { jwt: [{ ...JWT, groups: { a: { member: "x" } } }] },
    /member must begin with a slash/,
  ],
  ["no duration", { jwt: [{ ...JWT, maxAge: "1 hour" }] }, /maxAge/],
  [
    "models that are no names",
    { jwt: [{ ...JWT, scopes: { models: ["a b"] } }] },
    /scopes: models must contain/,
  ],
  [
    "settings of no path",
    { clients: { "claude-code": { settings: { eng: {} } } } },
    /a path of settings must begin with a slash/,
  ],
  [
    "a tag with a colon",
    { clients: { "claude-code": { tag: "a:b" } } },
    /tag must begin with a letter or digit/,
  ],
  [
    "telemetry over http",
    { clients: { "claude-code": { telemetry: "http://otel.example" } } },
    /telemetry must begin with https/,
  ],
  ["clients in words", { clients: { "claude-code": "yes" } }, /claude-code must be true, false or a group/],
  ["an unknown option", { jwt: [{ ...JWT, audiense: "x" }] }, /audiense/],
  ["a wrong word", { unknown: "allow" }, /unknown/],
  ["a short secret", { url: "https://weir.example", tokens: { secret: "short" } }, /at least 32 characters/],
  ["a secret without an address", { tokens: { secret: "x".repeat(40) } }, /secret needs identity.url/],
  ["a day for a token", { tokens: { access: "5h" } }, /access must be at most 1h/],
  [
    "a client without a secret",
    { providers: { x: { issuer: "https://x.example", client: "c" } } },
    /client needs secret/,
  ],
  [
    "a client without an address",
    { providers: { x: { issuer: "https://x.example", client: "c", secret: "s" } } },
    /client needs identity.url/,
  ],
  ["an address over http", { url: "http://weir.example" }, /url must begin with https/],
  ["create at the root", { create: { under: "/" } }, /under must be below/],
  ["a provider with a wrong name", { providers: { "My Okta": { issuer: "https://x.example" } } }, /My Okta/],
];

test.each(FAULTS)("%s is refused with a sentence that says where", (_, identity, expected) => {
  const fault = faultOf(identity);
  expect(fault).toMatch(expected);
  expect(fault).toStartWith("weir.yaml:1: ");
});

test("what is accepted: http on this machine, a file of keys beside the config, GitHub with an owner", () => {
  const section = loadSection({
    providers: { okta: { issuer: "https://corp.okta.com/oauth2/default", audience: ["a", "b"] } },
    jwt: [
      { ...JWT, issuer: "http://127.0.0.1:1/realms/x", jwks: "keys.json", maxAge: "15m", lifetime: "2d" },
      { ...JWT, issuer: "http://localhost:1" },
      {
        ...JWT,
        issuer: "https://token.actions.githubusercontent.com",
        when: { repository_owner: "corp" },
        name: "github",
      },
      { ...JWT, issuer: "https://token.actions.githubusercontent.com", when: { sub: ["a", "b"] } },
    ],
  });
  const entries = entriesOf(section);
  expect(entries.map(({ name }) => name)).toEqual([
    "okta",
    "127.0.0.1:1",
    "localhost:1",
    "github",
    "token.actions.githubusercontent.com",
  ]);
  expect(entries[1]!.jwks).toMatch(/^\/.*\/keys\.json$/);
  expect([entries[1]!.maxAgeMs, entries[1]!.lifetimeMs, entries[2]!.lifetimeMs]).toEqual([
    900_000, 172_800_000, 86_400_000,
  ]);
});
