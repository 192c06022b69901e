/**
 * Stores as clients and stand-ins of others know them. `WEIR_SECRET_JUDGES` names a folder with a `venv` that has
 * `moto[server]==5.2.5` and `hvac==2.4.0`, and with `npm install node-vault@0.12.0`.
 */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../../test/helpers/serving.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { placeOf, valueIn } from "../reference.ts";
import { parameterStore, secretsManager } from "../stores/aws.ts";
import { ROOT_TOKEN, startVault } from "./fake-vault.ts";

setDefaultTimeout(120_000);

const FOLDER = process.env["WEIR_SECRET_JUDGES"] ?? "/nowhere";
const PYTHON = join(FOLDER, "venv/bin/python3");
const hasPython = existsSync(PYTHON);
const hasNode = existsSync(join(FOLDER, "node_modules/node-vault"));
if (!hasPython || !hasNode)
  console.log("Judges of stores are skipped: WEIR_SECRET_JUDGES names no folder with a venv and node-vault.");

const vault = startVault();
vault.put("llm", { openai: "value-one", nested: { deep: 1 } });
vault.kv1.set("old", { key: "value-of-kv-1" });
vault.leaseSeconds = 3;
afterAll(() => vault.stop());

async function run(command: string[], env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(command, {
    env: { PATH: process.env["PATH"]!, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(err.slice(-2_000));
  return out;
}

const HVAC = `
import hvac, json, sys
url, token = sys.argv[1:3]
c = hvac.Client(url=url, token=token)
kv2 = c.secrets.kv.v2.read_secret_version(path="llm", raise_on_deleted_version=True)
kv1 = c.secrets.kv.v1.read_secret(path="old", mount_point="kv")
creds = c.secrets.database.generate_credentials(name="app")
renewed = c.sys.renew_lease(lease_id=creds["lease_id"], increment=3)
other = hvac.Client(url=url)
login = other.auth.approle.login(role_id="role", secret_id="secret-id")
seen = other.secrets.kv.v2.read_secret_version(path="llm", raise_on_deleted_version=True)
missing = None
try:
    c.secrets.kv.v2.read_secret_version(path="none", raise_on_deleted_version=True)
except hvac.exceptions.InvalidPath as e:
    missing = type(e).__name__
denied = None
try:
    hvac.Client(url=url, token="wrong").secrets.kv.v2.read_secret_version(path="llm", raise_on_deleted_version=True)
except hvac.exceptions.Forbidden as e:
    denied = type(e).__name__
print(json.dumps([kv2["data"]["data"]["openai"], kv2["data"]["metadata"]["version"], kv1["data"]["key"],
  creds["lease_duration"], creds["renewable"], renewed["lease_duration"], login["auth"]["renewable"],
  seen["data"]["data"]["openai"], missing, denied]))
`;

test.skipIf(!hasPython)("hvac reads the fake Vault", async () => {
  expect(JSON.parse(await run([PYTHON, "-c", HVAC, vault.url, ROOT_TOKEN]))).toEqual([
    ...["value-one", 1, "value-of-kv-1", 3, true, 3, true, "value-one", "InvalidPath", "Forbidden"],
  ]);
});

const NODE_VAULT = `
const vault = require("node-vault")({ endpoint: process.argv[1], token: process.argv[2] });
(async () => {
  const kv2 = await vault.read("secret/data/llm");
  const kv1 = await vault.read("kv/old");
  const creds = await vault.read("database/creds/app");
  const renewed = await vault.write("sys/leases/renew", { lease_id: creds.lease_id });
  const other = require("node-vault")({ endpoint: process.argv[1] });
  await other.approleLogin({ role_id: "role", secret_id: "secret-id" });
  const seen = await other.read("secret/data/llm");
  const missing = await vault.read("secret/data/none").catch((e) => e.response.statusCode);
  console.log(JSON.stringify([kv2.data.data.openai, kv1.data.key, creds.renewable, renewed.lease_duration, seen.data.data.openai, missing]));
})();
`;

test.skipIf(!hasNode)("node-vault reads the fake Vault", async () => {
  const out = await run(["node", "-e", NODE_VAULT, vault.url, ROOT_TOKEN], {
    NODE_PATH: join(FOLDER, "node_modules"),
  });
  expect(JSON.parse(out)).toEqual(["value-one", "value-of-kv-1", true, 3, "value-one", 404]);
});

const CREATE = `
import boto3, json, sys
at = dict(endpoint_url=sys.argv[1], region_name="eu-central-1", aws_access_key_id="AKIDEXAMPLE", aws_secret_access_key="planted-key")
sm, ssm = boto3.client("secretsmanager", **at), boto3.client("ssm", **at)
arn = sm.create_secret(Name="prod/llm", SecretString=json.dumps({"openai": {"key": "value-in-aws"}}))["ARN"]
sm.create_secret(Name="prod/plain", SecretString="plain-value")
sm.create_secret(Name="prod/binary", SecretBinary=b"binary-value")
ssm.put_parameter(Name="/prod/openai", Value="value-of-parameter", Type="SecureString")
ssm.put_parameter(Name="/prod/openai", Value="second-value", Type="SecureString", Overwrite=True)
print(arn)
`;

test.skipIf(!hasPython)(
  "moto's Secrets Manager and Parameter Store are read, and refuse as AWS does",
  async () => {
    const port = freePort();
    const server = Bun.spawn([PYTHON, "-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)], {
      ...{ stdout: "ignore", stderr: "ignore" },
    });
    try {
      const endpoint = `http://127.0.0.1:${port}`;
      const isUp = () =>
        fetch(endpoint).then(
          () => true,
          () => false,
        );
      let up = false;
      void (async () => {
        while (!(up = await isUp())) await Bun.sleep(100);
      })();
      expect(await until(() => up, 60_000)).toBe(true);
      const arn = (await run([PYTHON, "-c", CREATE, endpoint])).trim();
      const env = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "planted-key" };
      const stop = () => AbortSignal.timeout(10_000);
      const sm = secretsManager({ endpoint }, { ...env, AWS_REGION: "eu-central-1" });
      for (const name of [`aws-sm:prod/llm#/openai/key`, `aws-sm:${arn}#/openai/key`]) {
        const { document, member } = placeOf(name);
        expect(valueIn((await sm.read(document, stop())).content, member)).toBe("value-in-aws");
      }
      const plain = await sm.read("prod/plain", stop());
      expect(plain.content).toBe("plain-value");
      expect(plain.version).toMatch(/^[0-9a-f-]{36}$/i);
      expect((await sm.read("prod/binary", stop())).content).toBe("binary-value");
      const ssm = parameterStore({ region: "eu-central-1" }, { ...env, AWS_ENDPOINT_URL_SSM: endpoint });
      expect(await ssm.read("/prod/openai", stop())).toEqual({ content: "second-value", version: "2" });
      const fault = (pending: Promise<unknown>) => pending.catch((cause: Error) => cause.message);
      expect(await fault(sm.read("none", stop()))).toContain(": Secrets Manager can't find");
      expect(await fault(ssm.read("/none", stop()))).toContain("answered with status 400");
      expect(await fault(secretsManager({ endpoint }, env).read("prod/plain", stop()))).toBe(
        "needs a region: set secrets.aws.region or AWS_REGION",
      );
    } finally {
      server.kill();
      await server.exited;
    }
  },
);
