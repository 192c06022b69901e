import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { entraToken } from "../../src/auth/entra.ts";
import { fakePlace, fieldsOf } from "../helpers/fake-place.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-entra-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const scope = "https://cognitiveservices.azure.com/.default";
const client = { AZURE_TENANT_ID: "tenant/1", AZURE_CLIENT_ID: "client", AZURE_CLIENT_SECRET: "s+cret" };
const HOUR = 3_600_000;

test("a token for the secret of a client, fetched once for all calls and again before it expires", async () => {
  const fake = fakePlace({ secrets: client });
  const tokens = await Promise.all(Array.from({ length: 100 }, () => entraToken(fake.place, { scope })));
  expect(new Set(tokens)).toEqual(new Set(["token-1"]));
  expect(fake.asked).toHaveLength(1);
  expect(fake.asked[0]!.url).toBe("https://login.microsoftonline.com/tenant%2F1/oauth2/v2.0/token");
  expect(fieldsOf(fake.asked[0]!)).toEqual({
    grant_type: "client_credentials",
    client_id: "client",
    client_secret: "s+cret",
    scope,
  });
  expect(fake.concealed).toContain("token-1");
  fake.time += HOUR;
  expect(await entraToken(fake.place, { scope })).toBe("token-2");
});

test("another authority for national clouds", async () => {
  const fake = fakePlace({ secrets: client });
  await entraToken(fake.place, { scope, authorityHost: "https://login.microsoftonline.us/" });
  expect(fake.asked[0]!.url).toStartWith("https://login.microsoftonline.us/tenant%2F1/");
});

test("a federated token is read anew from its file each time", async () => {
  const file = join(folder, "token");
  const { AZURE_CLIENT_SECRET: _, ...workload } = client;
  const fake = fakePlace({ secrets: { ...workload, AZURE_FEDERATED_TOKEN_FILE: file } });
  for (const assertion of ["first", "second"]) {
    writeFileSync(file, `${assertion}\n`);
    await entraToken(fake.place, { scope });
    expect(fieldsOf(fake.asked.at(-1)!)).toMatchObject({
      client_assertion: assertion,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    });
    fake.time += HOUR;
  }
});

test("the managed identity of a virtual machine, past any proxy", async () => {
  const fake = fakePlace({
    env: { AZURE_CLIENT_ID: "one-of-several" },
    answer: () => ({ body: { access_token: "managed", expires_in: "86399" } }),
  });
  expect(await entraToken(fake.place, { scope })).toBe("managed");
  const { url, headers, direct } = fake.asked[0]!;
  const { origin, pathname, searchParams } = new URL(url);
  expect([origin, pathname]).toEqual(["http://169.254.169.254", "/metadata/identity/oauth2/token"]);
  expect(Object.fromEntries(searchParams)).toEqual({
    "api-version": "2018-02-01",
    resource: "https://cognitiveservices.azure.com",
    client_id: "one-of-several",
  });
  expect([headers, direct]).toEqual([{ metadata: "true" }, true]);
});

test("the managed identity of App Service has its own endpoint, which says when the token expires", async () => {
  const env = { IDENTITY_ENDPOINT: "http://127.0.0.1:41/msi/token", IDENTITY_HEADER: "proof" };
  const fake = fakePlace({
    env,
    answer: (number) => ({
      body: { access_token: `managed-${number}`, expires_on: String(Date.UTC(2026, 0, 1, 1) / 1000) },
    }),
  });
  await entraToken(fake.place, { scope });
  expect(fake.asked[0]!.url).toStartWith("http://127.0.0.1:41/msi/token?api-version=2019-08-01&");
  expect(fake.asked[0]!.headers).toEqual({ "x-identity-header": "proof" });
  fake.time += HOUR / 2;
  expect(await entraToken(fake.place, { scope })).toBe("managed-1");
  fake.time += HOUR / 2;
  expect(await entraToken(fake.place, { scope })).toBe("managed-2");
});

test("a refusal says why, and no secret", async () => {
  const body = {
    error: "invalid_client",
    error_description: "AADSTS7000215: Invalid client secret provided.",
  };
  const fake = fakePlace({ secrets: client, answer: () => ({ status: 401, body }) });
  const refused = entraToken(fake.place, { scope });
  expect(refused).rejects.toThrow(
    "Microsoft Entra answered with status 401: invalid_client: AADSTS7000215: Invalid client secret provided.",
  );
});
