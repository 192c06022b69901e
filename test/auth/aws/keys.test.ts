/** Access keys from files and endpoints of AWS, with a clock and endpoints of the test. */
import { afterEach, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { awsCredentials, awsKeys, awsVariables } from "../../../src/auth/aws/credentials.ts";
import { parseIni } from "../../../src/auth/aws/profiles.ts";
import type { CredentialSource } from "../../../src/core/credential.ts";
import type { Place, PlaceRequest } from "../../../src/core/place.ts";
import { isVariableList } from "../../../src/core/settings.ts";
import { makeHome } from "../../helpers/aws-keys.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

interface Fake {
  place: Place;
  asked: PlaceRequest[];
  concealed: string[];
  /** Milliseconds. */
  time: number;
}

const HOUR = 3600_000;

/** A place with these files in its home folder; its STS gives keys for an hour. */
function fake(files: Readonly<Record<string, string>>, env: Record<string, string> = {}): Fake {
  const home = makeHome(files).path;
  folders.push(home);
  const made: Fake = {
    ...{ asked: [], concealed: [], time: 1_000_000 },
    place: {
      name: "p",
      variables: { region: "eu-central-1", profile: "", credentialProcess: "", instanceMetadata: "" },
      env: { HOME: home, ...env },
      secret: () => undefined,
      conceal: (value) => void made.concealed.push(value),
      kept: new Map(),
      fetch: (request) => {
        made.asked.push(request);
        const number = made.asked.length;
        const parts = {
          AccessKeyId: `ID${number}`,
          SecretAccessKey: `secret${number}`,
          SessionToken: `session${number}`,
          Expiration: new Date(made.time + HOUR).toISOString(),
        };
        const text = Object.entries(parts).map(([name, value]) => `<${name}>${value}</${name}>`);
        return Promise.resolve({ status: 200, headers: new Headers(), text: text.join("") });
      },
      now: () => made.time,
    },
  };
  return made;
}

const files = {
  ".aws/config": "[default]\nrole_arn=arn:a\nsource_profile=base\n",
  ".aws/credentials": "[base]\naws_access_key_id=BASE\naws_secret_access_key=base-secret\n",
};

test("temporary keys are refreshed five minutes before they expire, while the old ones still sign", async () => {
  const made = fake(files);
  expect((await awsKeys(made.place)).accessKeyId).toBe("ID1");
  made.time += HOUR - 5 * 60_000 - 1;
  expect((await awsKeys(made.place)).accessKeyId).toBe("ID1");
  expect(made.asked).toHaveLength(1);
  made.time += 2;
  expect((await awsKeys(made.place)).accessKeyId).toBe("ID1");
  await Bun.sleep(0);
  expect(made.asked).toHaveLength(2);
  expect((await awsKeys(made.place)).accessKeyId).toBe("ID2");
  expect(made.concealed).toContain("secret2");
});

test("a failure is not kept: the next call tries again", async () => {
  const made = fake({}, { AWS_WEB_IDENTITY_TOKEN_FILE: "/nowhere/token", AWS_ROLE_ARN: "arn:a" });
  expect(String(await awsKeys(made.place).catch(String))).toContain("/nowhere/token");
  const home = made.place.env["HOME"]!;
  writeFileSync(join(home, "token"), "t");
  Object.assign(made.place.env, { AWS_WEB_IDENTITY_TOKEN_FILE: join(home, "token") });
  expect((await awsKeys(made.place)).accessKeyId).toBe("ID1");
});

test("a role of a role is assumed with the keys of the first, and a role may be its own source", async () => {
  const chain = fake({
    ".aws/config":
      "[default]\nrole_arn=arn:a\nsource_profile=mid\n[profile mid]\nrole_arn=arn:b\nsource_profile=base\n",
    ".aws/credentials": files[".aws/credentials"],
  });
  expect((await awsKeys(chain.place)).accessKeyId).toBe("ID2");
  expect(chain.asked.map(({ body }) => new URLSearchParams(body).get("RoleArn"))).toEqual(["arn:b", "arn:a"]);
  expect(chain.asked[1]!.headers!["authorization"]).toContain("Credential=ID1/");
  const own = fake({
    ".aws/credentials":
      "[default]\nrole_arn=arn:a\nsource_profile=default\naws_access_key_id=A\naws_secret_access_key=b\n",
  });
  expect((await awsKeys(own.place)).accessKeyId).toBe("ID1");
  expect(own.asked[0]!.headers!["authorization"]).toContain("Credential=A/");
});

test("what weir cannot do for a profile is a sentence", async () => {
  const rows: [file: string, says: string][] = [
    [
      "[default]\nrole_arn=arn:a\n",
      "The profile default has a role, but no source_profile or credential_source.",
    ],
    ["[default]\nrole_arn=arn:a\nsource_profile=x\n", "No file of the AWS tools has the profile x."],
    ["[default]\nrole_arn=arn:a\nsource_profile=b\n[b]\nregion=x\n", "The profile b names no credentials."],
    [
      "[default]\nrole_arn=a\nsource_profile=b\n[b]\nrole_arn=b\nsource_profile=default\n",
      "names no credentials",
    ],
    [
      "[default]\nrole_arn=arn:a\nmfa_serial=m\nsource_profile=b\n",
      "requires a code of a device (mfa_serial)",
    ],
    ["[default]\naws_access_key_id=A\n", "The profile default returned no access key and secret key."],
    ["[default]\nsso_start_url=x\n", "needs sso_region, sso_account_id and sso_role_name"],
  ];
  for (const [file, says] of rows)
    expect(String(await awsKeys(fake({ ".aws/credentials": file }).place).catch(String))).toContain(says);
});

test("the session token of the environment does not go with access keys of the config", async () => {
  const secrets: Record<string, string> = {
    AWS_ACCESS_KEY_ID: "A",
    AWS_SECRET_ACCESS_KEY: "s",
    AWS_SESSION_TOKEN: "t",
  };
  const keysWith = (env: Record<string, string>) =>
    awsKeys({ ...fake({}).place, env, secret: (name) => secrets[name] });
  expect((await keysWith(secrets)).sessionToken).toBe("t");
  expect((await keysWith({ AWS_ACCESS_KEY_ID: "B", AWS_SESSION_TOKEN: "t" })).sessionToken).toBeUndefined();
  expect((await keysWith({ AWS_ACCESS_KEY_ID: "B", AWS_SESSION_TOKEN: "u" })).sessionToken).toBe("t");
});

test("the variables of the AWS tools name other files", async () => {
  const made = fake({ "my-config": files[".aws/config"], "my-keys": files[".aws/credentials"] });
  const { HOME } = made.place.env;
  const env = { AWS_CONFIG_FILE: `${HOME}/my-config`, AWS_SHARED_CREDENTIALS_FILE: `${HOME}/my-keys` };
  expect((await awsKeys({ ...made.place, env })).accessKeyId).toBe("ID1");
});

test("STS of China has an address of its own, and the vendor's variable replaces both", async () => {
  const made = fake(files);
  await awsKeys(made.place);
  expect(made.asked[0]!.url).toBe("https://sts.eu-central-1.amazonaws.com/");
  const china = fake(files);
  await awsKeys({ ...china.place, variables: { ...china.place.variables, region: "cn-north-1" } });
  expect(china.asked[0]!.url).toBe("https://sts.cn-north-1.amazonaws.com.cn/");
});

test("where the credentials are is named for people, and nothing is found where there is nothing", () => {
  const sources = awsCredentials().filter((set): set is CredentialSource => !isVariableList(set));
  const found = ({ place }: Fake) => sources.map((source) => source.find(place)).find(Boolean);
  expect(found(fake({}))).toBeUndefined();
  expect(found(fake({ ".aws/config": "[default]\nregion=eu-west-1\n" }))).toBeUndefined();
  expect(found(fake(files))).toBe("the AWS profile default");
  expect(found(fake(files, { AWS_PROFILE: "other" }))).toBeUndefined();
  const web = { AWS_WEB_IDENTITY_TOKEN_FILE: "/t", AWS_ROLE_ARN: "arn:a" };
  expect(found(fake({}, web))).toBe("the token in AWS_WEB_IDENTITY_TOKEN_FILE");
  const container = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/v2/x" };
  expect(found(fake({}, container))).toBe("the role of the container");
});

test("the region is that of the profile", () => {
  const find = awsVariables["region"]!.find!;
  expect(find(fake({ ".aws/config": "[default]\nregion=eu-west-1\n" }).place)).toBe("eu-west-1");
  expect(find(fake({}).place)).toBeUndefined();
});

test("INI files: comments, quotes, spaces, sections that are continued, and nested settings", () => {
  const sections = parseIni(
    '; c\n# c\n[ profile "a b" ]\nKey = v # c\nurl=https://x/#y\nempty =\nnested =\n  inner = 1\n[other]\nk=1\n[profile a b]\nk2 = x=y\r\n',
  );
  expect(Object.fromEntries(sections.get("profile a b")!)).toEqual({
    ...{ key: "v", url: "https://x/#y", empty: "", nested: "", k2: "x=y" },
  });
  expect(sections.get("other")!.get("k")).toBe("1");
});
