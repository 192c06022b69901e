/** Where Bedrock's credentials come from: each source gives requests that the host accepts, and nothing else is asked. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CONTAINER_TOKEN,
  type KeyEndpoints,
  keysOf,
  makeHome,
  SSO_TOKEN,
  startKeyEndpoints,
  WEB_TOKEN,
} from "../helpers/aws-keys.ts";
import { asClaude, awsError, type Bedrock, startBedrock } from "../helpers/bedrock.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";

const KEY_ID = "AKIDCANARY0123456789";
const SECRET = "secret-canary-0123456789abcdef";
const ROLE = "arn:aws:iam::123456789012:role/weir";

let endpoints: KeyEndpoints;
let bedrock: Bedrock;
let secrets: Record<string, string>;
const open: { stop(): void | Promise<void> }[] = [];

beforeEach(() => {
  endpoints = startKeyEndpoints({ [KEY_ID]: SECRET });
  secrets = { [KEY_ID]: SECRET };
  endpoints.secrets = secrets;
  bedrock = startBedrock({ secrets, apiKey: "bedrock-key-canary-0123456789" });
  bedrock.handle(asClaude);
  open.push(endpoints, bedrock);
});

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

interface Setup {
  env?: Record<string, string>;
  /** Files of the home folder. */
  files?: Record<string, string>;
  /** Settings of the provider. */
  bedrock?: object;
}

/** A gateway that reaches the stand-ins, and no other endpoint of AWS. */
async function start({
  env = {},
  files,
  bedrock: settings = {},
}: Setup): Promise<RunningGateway & { home: string }> {
  const home = makeHome(files ?? {});
  const gateway = await startGateway({
    env: {
      HOME: home.path,
      BEDROCK_BASE_URL: bedrock.url,
      AWS_ENDPOINT_URL_STS: endpoints.url,
      AWS_ENDPOINT_URL_SSO: endpoints.url,
      AWS_EC2_METADATA_SERVICE_ENDPOINT: endpoints.url,
      AWS_REGION: "eu-central-1",
      ...env,
    },
    // With another provider the mock answers for none that is off.
    config: { providers: { bedrock: settings, anthropic: { apiKey: "unused-0123456789" } } },
  });
  open.push({ stop: home.remove }, gateway);
  return { ...gateway, home: home.path };
}

const ask = {
  model: "bedrock/us.anthropic.claude-x",
  max_tokens: 9,
  messages: [{ role: "user", content: "hi" }],
};

function post({ url }: { url: string }, path = "/v1/messages"): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(url + path, { method: "POST", headers, body: JSON.stringify(ask) });
}

/** Waits until the log contains a text; weir writes lines in batches. */
async function logged({ log }: { log: string[] }, text: string): Promise<void> {
  for (let tries = 0; tries < 500 && !log.join("\n").includes(text); tries++) await Bun.sleep(10);
  expect(log.join("\n")).toContain(text);
}

/** Id of the access key that signed the last request to Bedrock. */
const signer = () =>
  /Credential=([^/]+)/.exec(bedrock.requests.at(-1)?.headers.get("authorization") ?? "")?.[1];

/** Sends a call, and says with which key and after which requests for keys it was answered. */
async function call(setup: Setup) {
  const gateway = await start(setup);
  expect(endpoints.asked).toEqual([]);
  const response = await post(gateway);
  expect([response.status, bedrock.faults]).toEqual([200, []]);
  return { gateway, signer: signer(), asked: endpoints.asked };
}

const keyLines = `aws_access_key_id = ${KEY_ID}\naws_secret_access_key=${SECRET}`;

test("an API key is sent as it is, also beside access keys, and nothing is signed", async () => {
  const env = {
    AWS_BEARER_TOKEN_BEDROCK: "bedrock-key-canary-0123456789",
    AWS_ACCESS_KEY_ID: KEY_ID,
    AWS_SECRET_ACCESS_KEY: SECRET,
  };
  for (const setup of [{ env }, { bedrock: { apiKey: "bedrock-key-canary-0123456789" } }]) {
    await call(setup);
    const { headers } = bedrock.requests.at(-1)!;
    expect(headers.get("authorization")).toBe("Bearer bedrock-key-canary-0123456789");
    expect([...headers.keys()].filter((name) => name.startsWith("x-amz-"))).toEqual([]);
  }
});

test("access keys of the environment precede the profile, unless the config names the profile", async () => {
  const env = { AWS_ACCESS_KEY_ID: KEY_ID, AWS_SECRET_ACCESS_KEY: SECRET };
  const other = { ...keysOf(7) };
  secrets[other.AccessKeyId] = other.SecretAccessKey;
  const files = {
    ".aws/credentials": `[work]\naws_access_key_id=${other.AccessKeyId}\naws_secret_access_key=${other.SecretAccessKey}\n`,
  };
  expect((await call({ env: { ...env, AWS_PROFILE: "work" }, files })).signer).toBe(KEY_ID);
  expect((await call({ env, files, bedrock: { variables: { profile: "work" } } })).signer).toBe(
    other.AccessKeyId,
  );
});

test("a profile gives the region and the keys, from both files of the AWS tools", async () => {
  const files = {
    ".aws/config":
      "[default]\nregion = us-west-2 # Oregon\n\n[profile work]\nregion=eu-west-3\ns3 =\n  region = x\n",
    ".aws/credentials": `[default]\n${keyLines}\n`,
  };
  await call({ env: { AWS_REGION: "" }, files });
  expect(bedrock.requests.at(-1)!.headers.get("authorization")).toContain("/us-west-2/bedrock/aws4_request");
  const work = { ...files, ".aws/credentials": `[work]\n${keyLines}\n` };
  await call({ env: { AWS_REGION: "", AWS_PROFILE: "work" }, files: work });
  expect(bedrock.requests.at(-1)!.headers.get("authorization")).toContain("/eu-west-3/bedrock/aws4_request");
});

test("keys in a file are read again when the file changes, and once when the host refuses them", async () => {
  const { gateway } = await call({ files: { ".aws/credentials": `[default]\n${keyLines}\n` } });
  const file = join(gateway.home, ".aws/credentials");
  const rotated = keysOf(8);
  secrets[rotated.AccessKeyId] = rotated.SecretAccessKey;
  const text = `[default]\naws_access_key_id=${rotated.AccessKeyId}\naws_secret_access_key=${rotated.SecretAccessKey}\n`;
  writeFileSync(file, text);
  utimesSync(file, 1, 1);
  expect((await post(gateway)).status).toBe(200);
  expect(signer()).toBe(rotated.AccessKeyId);
  const before = bedrock.requests.length;
  delete secrets[rotated.AccessKeyId];
  expect((await post(gateway)).status).toBe(502);
  expect(bedrock.requests.length - before).toBe(2);
});

test("a role of a profile is assumed with the keys of its source", async () => {
  const files = {
    ".aws/config": `[profile prod]\nrole_arn=${ROLE}\nsource_profile=base\nrole_session_name=me\n`,
    ".aws/credentials": `[base]\n${keyLines}\n`,
  };
  const { signer: id, asked } = await call({ env: { AWS_PROFILE: "prod" }, files });
  expect([id, asked]).toEqual([keysOf(1).AccessKeyId, [`AssumeRole ${ROLE} me`]]);
  expect(bedrock.requests.at(-1)!.headers.get("x-amz-security-token")).toBe(keysOf(1).SessionToken);
});

test("a web identity is exchanged for keys of its role, with the token that is in the file then", async () => {
  const gateway = await start({ files: { token: "old" }, env: {} });
  const file = join(gateway.home, "token");
  const running = await start({ env: { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: ROLE } });
  writeFileSync(file, WEB_TOKEN);
  expect((await post(running)).status).toBe(200);
  expect(endpoints.asked).toEqual([`AssumeRoleWithWebIdentity ${ROLE} weir`]);
});

test("a container's endpoint gives keys, but only one of this machine or over TLS gets the token", async () => {
  const env = {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${endpoints.url}/container`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: CONTAINER_TOKEN,
  };
  expect((await call({ env })).signer).toBe(keysOf(1).AccessKeyId);
  const elsewhere = { ...env, AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://198.51.100.7/container" };
  const refused = await start({ env: elsewhere });
  expect((await post(refused)).status).toBe(502);
  await logged(refused, "must be an https URL, or one of this machine");
});

test("the metadata of an instance is read only if the config allows it", async () => {
  const off = await start({});
  expect((await post(off)).status).toBe(404);
  expect(endpoints.requests).toEqual([]);
  const { asked } = await call({ bedrock: { variables: { instanceMetadata: "allow" } } });
  expect(asked).toEqual([
    "PUT /latest/api/token",
    "GET /latest/meta-data/iam/security-credentials/",
    "GET /latest/meta-data/iam/security-credentials/the-role",
  ]);
});

test("a profile with single sign-on uses the token of the last login, and says when that has expired", async () => {
  const name = `${createHash("sha1").update("corp").digest("hex")}.json`;
  const config = `[profile sso]\nsso_session=corp\nsso_account_id=1\nsso_role_name=dev\n[sso-session corp]\nsso_region=eu-west-1\n`;
  const login = (hours: number) => ({
    ".aws/config": config,
    [`.aws/sso/cache/${name}`]: JSON.stringify({
      accessToken: SSO_TOKEN,
      expiresAt: new Date(Date.now() + hours * 3600_000).toISOString(),
    }),
  });
  const { signer: id } = await call({ env: { AWS_PROFILE: "sso" }, files: login(1) });
  expect(id).toBe(keysOf(1).AccessKeyId);
  const expired = await start({ env: { AWS_PROFILE: "sso" }, files: login(-1) });
  expect((await post(expired)).status).toBe(502);
  await logged(expired, "run `aws sso login --profile sso`");
});

test("a program of a profile runs only if the config allows it", async () => {
  const program = `printf '{"Version":1,"AccessKeyId":"%s","SecretAccessKey":"%s"}' ${KEY_ID} ${SECRET}`;
  const files = { ".aws/config": `[default]\ncredential_process = ${program}\n` };
  const refused = await start({ files });
  expect((await post(refused)).status).toBe(502);
  await logged(refused, "set the variable credentialProcess of the provider to allow");
  const { signer: id } = await call({ files, bedrock: { variables: { credentialProcess: "allow" } } });
  expect(id).toBe(KEY_ID);
});

const roleSetup: Setup = {
  env: { AWS_PROFILE: "prod" },
  files: {
    ".aws/config": `[profile prod]\nrole_arn=${ROLE}\nsource_profile=base\n`,
    ".aws/credentials": `[base]\n${keyLines}\n`,
  },
};

test("a hundred calls at once ask for keys once", async () => {
  const gateway = await start(roleSetup);
  const all = await Promise.all(Array.from({ length: 100 }, () => post(gateway)));
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
  expect([endpoints.issued, bedrock.faults]).toEqual([1, []]);
});

test("expired keys that the host refuses are fetched anew, once for all calls", async () => {
  const gateway = await start(roleSetup);
  expect((await post(gateway)).status).toBe(200);
  bedrock.handle((asked) =>
    signerOf(asked.request.headers) === keysOf(1).AccessKeyId
      ? awsError(403, "ExpiredTokenException", "The security token included in the request is expired")
      : asClaude(asked),
  );
  const all = await Promise.all(Array.from({ length: 20 }, () => post(gateway)));
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
  expect(endpoints.issued).toBe(2);
});

const signerOf = (headers: Headers) => /Credential=([^/]+)/.exec(headers.get("authorization") ?? "")?.[1];

test("a clock that is ten minutes wrong costs one more request", async () => {
  bedrock.stop();
  bedrock = startBedrock({ secrets, now: () => Date.now() + 600_000 });
  bedrock.handle(asClaude);
  open.push(bedrock);
  const gateway = await start({ env: { AWS_ACCESS_KEY_ID: KEY_ID, AWS_SECRET_ACCESS_KEY: SECRET } });
  expect((await post(gateway)).status).toBe(200);
  expect((await post(gateway)).status).toBe(200);
  expect(bedrock.requests).toHaveLength(3);
});

test("a refusal of STS is an error of the operator, whose reason only the log has", async () => {
  endpoints.refusal = {
    status: 403,
    body: "<Error><Code>AccessDenied</Code><Message>not allowed</Message></Error>",
  };
  const gateway = await start(roleSetup);
  const response = await post(gateway);
  expect(response.status).toBe(502);
  expect(await response.text()).not.toContain("AccessDenied");
  await logged(gateway, "STS refused AssumeRole with status 403. AccessDenied: not allowed");
});

test("temporary keys, and what they were exchanged for, reach no client, no log and no explanation", async () => {
  const gateway = await start(roleSetup);
  const { SecretAccessKey, SessionToken } = keysOf(1);
  bedrock.handle(() =>
    awsError(400, "ValidationException", `no ${SecretAccessKey} ${SessionToken} ${SECRET}`),
  );
  await post(gateway);
  await logged(gateway, "bedrock");
  const seen = [
    await (await post(gateway)).text(),
    await (await post(gateway, "/v1/chat/completions")).text(),
    await (await post(gateway, "/v1/explain?format=messages")).text(),
    gateway.log.join("\n"),
  ].join("\n");
  for (const secret of [SecretAccessKey, SessionToken, SECRET]) expect(seen).not.toContain(secret);
});

test("explain fetches no keys, and names the profile", async () => {
  const gateway = await start(roleSetup);
  const explained = await post(gateway, "/v1/explain?format=messages");
  const { request } = (await explained.json()) as { request: Record<string, unknown> };
  expect(request["authorized_with"]).toEqual(["the AWS profile prod"]);
  expect(endpoints.requests).toEqual([]);
});

test("without a region or without credentials the provider is off, and weir says what to set", async () => {
  const reason = async (env: Record<string, string>) => {
    const response = await post(await start({ env }));
    return ((await response.json()) as { error: { message: string } }).error.message;
  };
  const none = await reason({ AWS_REGION: "" });
  expect(none).toContain("set AWS_REGION to the AWS region, such as eu-central-1");
  expect(none).toContain("set AWS_BEARER_TOKEN_BEDROCK, or add the profile to ~/.aws/credentials");
  expect(await reason({})).toContain("is off: set AWS_BEARER_TOKEN_BEDROCK, or");
  expect(await reason({ AWS_ACCESS_KEY_ID: KEY_ID })).toContain("set AWS_BEARER_TOKEN_BEDROCK, or");
});
