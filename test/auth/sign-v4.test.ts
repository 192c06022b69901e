/** Signatures against the examples that AWS publishes, and against requests of the AWS SDK. */
import { createHash } from "node:crypto";
import { expect, test } from "bun:test";
import { authorizationV4, signV4 } from "../../src/auth/sign-v4.ts";

const keys = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const EMPTY = createHash("sha256").update("").digest("hex");
const DATE = "20150830T123600Z";
const HOST = { host: "example.amazonaws.com", "x-amz-date": DATE };

/** Cases of the AWS Signature Version 4 test suite (service `service`, region us-east-1). */
const SUITE: readonly [
  name: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  signature: string,
][] = [
  ["get-vanilla", "GET", "/", HOST, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
  [
    "get-vanilla-query-order-key-case",
    "GET",
    "/?Param2=value2&Param1=value1",
    HOST,
    "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
  ],
  [
    "get-vanilla-query-unreserved",
    "GET",
    "/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    HOST,
    "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197",
  ],
  ["post-vanilla", "POST", "/", HOST, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
  [
    "post-header-key-sort",
    "POST",
    "/",
    { ...HOST, "my-header1": "value1" },
    "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
  ],
];

for (const [name, method, path, headers, signature] of SUITE)
  test(`AWS test suite: ${name}`, () => {
    const url = new URL(`https://example.amazonaws.com${path}`);
    const options = { service: "service", region: "us-east-1", keys };
    const header = authorizationV4({ method, url }, headers, EMPTY, options);
    expect(header).toEndWith(`Signature=${signature}`);
    expect(header).toStartWith(
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ",
    );
  });

test("AWS documentation: IAM ListUsers", () => {
  const url = new URL("https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08");
  const headers = {
    "content-type": "application/x-www-form-urlencoded; charset=utf-8",
    host: "iam.amazonaws.com",
    "x-amz-date": DATE,
  };
  const header = authorizationV4({ method: "GET", url }, headers, EMPTY, {
    service: "iam",
    region: "us-east-1",
    keys,
  });
  expect(header).toBe(
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
  );
});

/** What the AWS SDK for JavaScript signs for these requests. */
const SDK: readonly [path: string, sessionToken: string | undefined, signature: string][] = [
  [
    "/model/us.anthropic.claude-x-v1%3A0/converse",
    undefined,
    "d29d30919907ac6e97f39bf659e1fb22967cb60b4d1740260839b490f133abe4",
  ],
  [
    "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.anthropic.claude-x-v1%3A0/converse-stream",
    "SESSION",
    "01c5c84ed13e891e3768d442245ba9fb4fa65cc4b0168ca109304b5e49fb3027",
  ],
];

for (const [path, sessionToken, signature] of SDK)
  test(`AWS SDK: ${path.slice(0, 40)}`, () => {
    const body = Buffer.from('{"messages":[{"role":"user","content":[{"text":"hi"}]}]}');
    const request = {
      method: "POST",
      url: new URL(`https://bedrock-runtime.us-east-1.amazonaws.com${path}`),
      headers: { "content-type": "application/json", "user-agent": "weir" },
      body: [body.subarray(0, 7), body.subarray(7)],
    };
    const now = Date.parse("2026-11-21T00:00:00Z");
    const headers = signV4(request, {
      service: "bedrock",
      region: "us-east-1",
      keys: { ...keys, sessionToken },
      now,
    });
    expect(headers["authorization"]).toEndWith(`Signature=${signature}`);
    expect(headers["x-amz-date"]).toBe("20261121T000000Z");
    expect(headers["x-amz-security-token"]).toBe(sessionToken as string);
    expect(headers["x-amz-content-sha256"]).toBe(createHash("sha256").update(body).digest("hex"));
  });
