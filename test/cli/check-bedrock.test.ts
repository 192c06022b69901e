/** `weir check` says what is wrong with the credentials and the models of Bedrock. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeHome } from "../helpers/aws-keys.ts";
import { awsError, type Bedrock, startBedrock } from "../helpers/bedrock.ts";
import { runCommand } from "../helpers/command.ts";

// Each command is a process of its own.
setDefaultTimeout(60_000);

const KEY_ID = "AKIDCANARY0123456789";
const SECRET = "secret-canary-0123456789abcdef";
const keyLines = `aws_access_key_id=${KEY_ID}\naws_secret_access_key=${SECRET}\n`;

let bedrock: Bedrock;
const homes: { remove(): void }[] = [];

beforeAll(() => {
  bedrock = startBedrock({ secrets: { [KEY_ID]: SECRET } });
});

afterEach(() => {
  for (const home of homes.splice(0)) home.remove();
});

afterAll(() => bedrock.stop());

/** What `weir check` prints, without the keys. */
async function check(
  config: object,
  env: Record<string, string> = {},
): Promise<{ code: number; text: string }> {
  const home = makeHome({ ".aws/credentials": `[work]\n${keyLines}` });
  homes.push(home);
  writeFileSync(join(home.path, "weir.yaml"), JSON.stringify(config));
  const { code, out, err } = await runCommand(["check"], {
    cwd: home.path,
    env: { HOME: home.path, AWS_REGION: "eu-central-1", BEDROCK_BASE_URL: bedrock.url, ...env },
  });
  const text = out + err;
  expect(text).not.toContain(SECRET);
  return { code, text };
}

const using = (variables: object, more: object = {}) => ({ providers: { bedrock: { variables } }, ...more });

test("a host that accepts the signature is reachable", async () => {
  bedrock.handle(() => awsError(400, "ValidationException", "The provided model identifier is invalid."));
  expect((await check(using({ profile: "work" }))).text).toMatch(/bedrock +reachable/);
  expect(bedrock.faults).toEqual([]);
});

test("a profile that no file has", async () => {
  const { code, text } = await check(using({ profile: "nope" }));
  expect([code, text]).toEqual([
    1,
    expect.stringContaining("No file of the AWS tools has the profile nope;"),
  ]);
});

test("credentials that have expired, by the name of the profile", async () => {
  bedrock.handle(() => awsError(403, "ExpiredTokenException", "The security token is expired"));
  expect((await check(using({ profile: "work" }))).text).toContain(
    "refuses the credentials of the AWS profile work (status 403, ExpiredTokenException)",
  );
});

test("an ARN in the config that belongs to another region", async () => {
  const arn = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/x";
  const { code, text } = await check(
    using({ profile: "work" }, { routes: { chat: [{ model: `bedrock/${arn}` }] } }),
  );
  expect(code).not.toBe(0);
  expect(text).toContain("is an ARN of the region us-east-1, and the region of the provider is eu-central-1");
});

test("no region, and no credentials", async () => {
  const { text } = await check({}, { AWS_REGION: "" });
  expect(text).toContain("set AWS_REGION to the AWS region, such as eu-central-1");
  expect(text).toContain("set AWS_BEARER_TOKEN_BEDROCK, or add the profile to ~/.aws/credentials");
});
