import { afterAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync, verify } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { googleIdentity, googleToken } from "../../src/auth/google.ts";
import { fakePlace, fieldsOf } from "../helpers/fake-place.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-google-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pem = { type: "pkcs8", format: "pem" } as const;
const keys = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: pem,
  publicKeyEncoding: { type: "spki", format: "pem" },
});

const account = {
  type: "service_account",
  project_id: "my-project",
  private_key_id: "key-1",
  private_key: keys.privateKey,
  client_email: "robot@my-project.iam.example.com",
  token_uri: "https://oauth2.example.com/token",
};
const user = {
  type: "authorized_user",
  client_id: "client",
  client_secret: "client-secret-canary",
  refresh_token: "refresh-token-canary",
  quota_project_id: "quota",
};

function fileWith(content: unknown, name = "key.json"): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const decode = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as object;

describe("a service account", () => {
  test("signs its request for a token with its key", async () => {
    const fake = fakePlace({ env: { GOOGLE_APPLICATION_CREDENTIALS: fileWith(account) } });
    expect(await googleToken(fake.place)).toBe("token-1");
    const [request] = fake.asked;
    expect(request!.url).toBe(account.token_uri);
    const { grant_type, assertion = "" } = fieldsOf(request!);
    expect(grant_type).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
    const [header = "", claims = "", signature = ""] = assertion.split(".");
    expect(decode(header)).toEqual({ alg: "RS256", typ: "JWT", kid: "key-1" });
    const issued = fake.time / 1000;
    expect(decode(claims)).toEqual({
      iss: account.client_email,
      scope: "https://www.googleapis.com/auth/cloud-platform",
      aud: account.token_uri,
      iat: issued,
      exp: issued + 3600,
    });
    const signed = Buffer.from(`${header}.${claims}`);
    expect(verify("RSA-SHA256", signed, keys.publicKey, Buffer.from(signature, "base64url"))).toBe(true);
    expect(verify("RSA-SHA256", Buffer.from("x"), keys.publicKey, Buffer.from(signature, "base64url"))).toBe(
      false,
    );
  });

  test("gets one token for many calls at once, and another from a file that was replaced", async () => {
    const keyFile = fileWith(account, "rotated.json");
    const fake = fakePlace();
    const tokens = await Promise.all(Array.from({ length: 100 }, () => googleToken(fake.place, { keyFile })));
    expect([new Set(tokens).size, fake.asked.length]).toEqual([1, 1]);
    fileWith({ ...account, token_uri: "https://other.example.com/token" }, "rotated.json");
    fake.time += 3_600_000;
    expect(await googleToken(fake.place, { keyFile })).toBe("token-2");
    expect(fake.asked[1]!.url).toBe("https://other.example.com/token");
  });
});

test("a user of gcloud refreshes the token, and neither secret is shown", async () => {
  const fake = fakePlace();
  await googleToken(fake.place, { keyFile: fileWith(user) });
  expect(fake.asked[0]!.url).toBe("https://oauth2.googleapis.com/token");
  expect(fieldsOf(fake.asked[0]!)).toEqual({
    grant_type: "refresh_token",
    client_id: "client",
    client_secret: user.client_secret,
    refresh_token: user.refresh_token,
  });
  expect(fake.concealed).toEqual([user.client_secret, user.refresh_token, "token-1"]);
});

test("the metadata server is asked only if the operator says so", async () => {
  const fake = fakePlace({ env: { GCE_METADATA_HOST: "127.0.0.1:41" } });
  expect(googleToken(fake.place)).rejects.toThrow("set GOOGLE_APPLICATION_CREDENTIALS");
  expect(fake.asked).toEqual([]);
  await googleToken(fake.place, { metadata: true });
  expect(fake.asked).toEqual([
    {
      url: "http://127.0.0.1:41/computeMetadata/v1/instance/service-accounts/default/token",
      headers: { "metadata-flavor": "Google" },
      direct: true,
    },
  ]);
});

test("a refusal says why", () => {
  const body = { error: "invalid_grant", error_description: "Invalid JWT Signature." };
  const fake = fakePlace({ answer: () => ({ status: 400, body }) });
  expect(googleToken(fake.place, { keyFile: fileWith(account) })).rejects.toThrow(
    "The token endpoint of Google answered with status 400: invalid_grant: Invalid JWT Signature.",
  );
});

describe("the application default credentials", () => {
  test("are in the file that the environment names, with its project", () => {
    const path = fileWith(account);
    expect(googleIdentity({ env: { GOOGLE_APPLICATION_CREDENTIALS: path } })).toEqual({
      source: `the service account in ${path}`,
      project: "my-project",
    });
  });

  test("are else in the file of gcloud", () => {
    mkdirSync(join(folder, ".config/gcloud"), { recursive: true });
    const path = fileWith(user, ".config/gcloud/application_default_credentials.json");
    expect(googleIdentity({ env: { HOME: folder } })).toEqual({
      source: `the user of gcloud in ${path}`,
      quotaProject: "quota",
    });
  });

  const unusable: [name: string, content: unknown][] = [
    ["no JSON", "not json"],
    ["another kind of credentials", { type: "external_account" }],
    ["a service account without a key", { ...account, private_key: undefined }],
  ];
  for (const [name, content] of unusable)
    test(`are not there if the file is ${name}`, () => {
      expect(googleIdentity({ env: {} }, fileWith(content, "unusable.json"))).toBeUndefined();
    });

  test("are not there if the file cannot be read", () => {
    expect(googleIdentity({ env: { GOOGLE_APPLICATION_CREDENTIALS: join(folder, "none") } })).toBeUndefined();
    expect(googleIdentity({ env: {} })).toBeUndefined();
  });
});
