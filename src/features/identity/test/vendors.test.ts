/** Tokens as vendors write them name the right person at the right path. */
import { afterAll, beforeAll, expect, test } from "bun:test";
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

test.each(VENDORS.map((vendor) => [vendor.name, vendor] as const))("%s", async (_, vendor) => {
  for (const [alg, issuer] of issuers) {
    const section = loadSection({ jwt: [{ issuer: issuer.url, ...vendor.entry }] });
    const entries = entriesOf(section);
    const token = readToken(await issuer.token({ email: undefined, ...vendor.claims }, vendor.header));
    const source = new KeySource({ issuer: issuer.url, fetchDocument, now: Date.now, fault: () => {} });
    await source.verify(token);
    source.stop();
    const { entry, identified } = identify(token, entries, Date.now());
    const { path } = standingOf(identified, entry, {}, undefined, undefined);
    const { name, client } = identified;
    expect({ alg, path, name, client }).toEqual({ alg, client: undefined, ...vendor.expected });
  }
});
