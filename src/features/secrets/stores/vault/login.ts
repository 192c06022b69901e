/** The ways to sign in at Vault. */
import { readFileSync } from "node:fs";
import { awsKeys } from "../../../../auth/aws/credentials.ts";
import { authorizationV4 } from "../../../../auth/sign-v4.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { placeAt } from "../../identity.ts";
import type { AwsOptions, Environment } from "../../store.ts";

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/** One of the methods. */
export interface VaultAuth {
  readonly token?: string;
  readonly approle?: { readonly roleId: string; readonly secretId?: string; readonly mount?: string };
  readonly kubernetes?: Role & { readonly tokenFile?: string };
  readonly jwt?: Role & { readonly tokenFile: string };
  readonly aws?: Role & { readonly header?: string };
}

interface Role {
  readonly role: string;
  readonly mount?: string;
}

/** A token, or a request for one. */
export type Login = { readonly token: string } | { readonly path: string; readonly body: JsonObject };

/** @throws Error with a clause if the config and the environment name no way */
export async function loginOf(
  { token, approle, kubernetes, jwt, aws }: VaultAuth,
  keys: AwsOptions,
  env: Environment,
): Promise<Login> {
  if (approle) {
    const { mount = "approle", roleId, secretId } = approle;
    const body = { role_id: roleId, ...(secretId !== undefined && { secret_id: secretId }) };
    return { path: `auth/${mount}/login`, body };
  }
  if (kubernetes) {
    const { mount = "kubernetes", role, tokenFile = SERVICE_ACCOUNT } = kubernetes;
    return { path: `auth/${mount}/login`, body: { role, jwt: readToken(tokenFile) } };
  }
  if (jwt) {
    const { mount = "jwt", role, tokenFile } = jwt;
    return { path: `auth/${mount}/login`, body: { role, jwt: readToken(tokenFile) } };
  }
  if (aws) return { path: `auth/${aws.mount ?? "aws"}/login`, body: await identityRequest(aws, keys, env) };
  const known = token ?? env["VAULT_TOKEN"]?.trim();
  if (!known) throw new Error("needs secrets.vault.auth or VAULT_TOKEN");
  return { token: known };
}

function readToken(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    throw new Error(`cannot be asked: the token in ${file} cannot be read`);
  }
}

/** A signed `GetCallerIdentity`, which Vault sends to AWS to learn who weir is. */
async function identityRequest(
  { role, header }: NonNullable<VaultAuth["aws"]>,
  { region, profile = "", instanceMetadata }: AwsOptions,
  env: Environment,
): Promise<JsonObject> {
  const place = placeAt("AWS", env, { profile, ...(instanceMetadata && { instanceMetadata: "allow" }) });
  const keys = await awsKeys(place);
  const at = region ?? env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"];
  const url = at === undefined ? "https://sts.amazonaws.com/" : `https://sts.${at}.amazonaws.com/`;
  const body = "Action=GetCallerIdentity&Version=2011-06-15";
  const signed: Record<string, string> = {
    host: new URL(url).host,
    "content-type": "application/x-www-form-urlencoded; charset=utf-8",
    "x-amz-date": new Date().toISOString().replace(/[-:]|\.\d+/g, ""),
    ...(keys.sessionToken !== undefined && { "x-amz-security-token": keys.sessionToken }),
    ...(header !== undefined && { "x-vault-aws-iam-server-id": header }),
  };
  const digest = new Bun.CryptoHasher("sha256").update(body).digest("hex");
  const authorization = authorizationV4({ method: "POST", url: new URL(url) }, signed, digest, {
    ...{ service: "sts", region: at ?? "us-east-1", keys },
  });
  const headers = Object.fromEntries(
    Object.entries({ ...signed, authorization }).map(([name, value]) => [name, [value]]),
  );
  const coded = (text: string) => Buffer.from(text).toString("base64");
  return {
    role,
    iam_http_request_method: "POST",
    iam_request_url: coded(url),
    iam_request_body: coded(body),
    iam_request_headers: coded(JSON.stringify(headers)),
  };
}
