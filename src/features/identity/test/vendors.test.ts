/** With the options of the document, tokens as vendors write them name the right person at the right path. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { identify, standingOf } from "../callers.ts";
import { entriesOf } from "../entries.ts";
import { fetchDocument } from "../fetch-document.ts";
import { readToken } from "../tokens/token.ts";
import { KeySource } from "../tokens/key-source.ts";
import { type Alg, Issuer } from "./support/issuer.ts";
import { loadSection } from "./support/load.ts";
import { VENDORS } from "./support/vendors.ts";

const ALGS: readonly Alg[] = ["RS256", "PS256", "ES256", "ES384", "EdDSA"];
const issuers = new Map<Alg, Issuer>();

beforeAll(async () => {
  for (const alg of ALGS) issuers.set(alg, await Issuer.start(alg));
});

afterAll(async () => {
  for (const issuer of issuers.values()) await issuer.stop();
});

const DOCUMENT = await Bun.file(join(import.meta.dir, "../vendors.md")).text();

/** The block below a heading, with this issuer in place of the vendor's. */
function optionsOf(heading: string, issuer: string): JsonObject {
  const section = DOCUMENT.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
  const written = /```yaml\n(.*?)```/s.exec(section)?.[1] ?? "";
  const { identity } = Bun.YAML.parse(written) as { identity: JsonObject };
  const { jwt, providers } = identity;
  if (Array.isArray(jwt)) return { ...identity, jwt: jwt.map((entry) => withIssuer(entry, issuer)) };
  const named = Object.entries(isObject(providers) ? providers : {});
  return {
    ...identity,
    providers: Object.fromEntries(named.map(([name, entry]) => [name, withIssuer(entry, issuer)])),
  };
}

const withIssuer = (entry: unknown, issuer: string): JsonObject => ({ ...(entry as JsonObject), issuer });

/** Values of the variables in the blocks. */
const ENV = Object.fromEntries(
  [...DOCUMENT.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name!, `something-long-${name!}`]),
);

test("the document has a section for each vendor, and no other one", () => {
  const headings = [...DOCUMENT.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading!);
  expect(headings).toEqual(VENDORS.map(({ heading }) => heading));
});

test.each(VENDORS.map((vendor) => [vendor.name, vendor] as const))("%s", async (_, vendor) => {
  for (const [alg, issuer] of issuers) {
    const section = loadSection(optionsOf(vendor.heading, issuer.url), ENV);
    const entries = entriesOf(section);
    const token = readToken(await issuer.token({ email: undefined, ...vendor.claims }, vendor.header));
    const source = new KeySource({ issuer: issuer.url, fetchDocument, now: Date.now, fault: () => {} });
    await source.verify(token);
    source.stop();
    const { entry, identified } = identify(token, entries, Date.now());
    const rules = section.unknown === "create" ? { createUnder: section.create.under } : {};
    const { path } = standingOf(identified, entry, rules, undefined, undefined);
    const { name, client } = identified;
    expect({ alg, path, name, client }).toEqual({ alg, client: undefined, ...vendor.expected });
  }
});
