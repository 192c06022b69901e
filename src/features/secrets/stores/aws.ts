/** Secrets Manager and Parameter Store of AWS. */
import { awsKeys } from "../../../auth/aws/credentials.ts";
import { regionOfProfile } from "../../../auth/aws/profiles.ts";
import { signV4 } from "../../../auth/sign-v4.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Place } from "../../../core/place.ts";
import { ask, expectObject } from "../ask.ts";
import { placeAt } from "../identity.ts";
import type { AwsOptions, Environment, Store } from "../store.ts";

const MEDIA = "application/x-amz-json-1.1";

/** `GetSecretValue`: a name or an ARN. */
export function secretsManager(options: AwsOptions, env: Environment): Store {
  const service = new Service("secretsmanager", "AWS_ENDPOINT_URL_SECRETS_MANAGER", options, env);
  return {
    async read(document, stop) {
      const found = await service.ask(
        "secretsmanager.GetSecretValue",
        { SecretId: document },
        document,
        stop,
      );
      const { SecretString: text, SecretBinary: binary, VersionId: version } = found;
      const content =
        typeof text === "string" ? text : Buffer.from(String(binary ?? ""), "base64").toString();
      return { content, ...(typeof version === "string" && { version }) };
    },
  };
}

/** `GetParameter`, decrypted. */
export function parameterStore(options: AwsOptions, env: Environment): Store {
  const service = new Service("ssm", "AWS_ENDPOINT_URL_SSM", options, env);
  return {
    async read(document, stop) {
      const asked = { Name: document, WithDecryption: true };
      const { Parameter: found } = await service.ask("AmazonSSM.GetParameter", asked, document, stop);
      const { Value: content, Version: version } = (found ?? {}) as JsonObject;
      return { content, ...(version !== undefined && { version: String(version) }) };
    },
  };
}

export class Service {
  readonly #service: string;
  readonly #region: string | undefined;
  readonly #endpoint: string | undefined;
  readonly #place: Place;

  /** @param service its name in addresses and signatures @param variable that names its address */
  constructor(service: string, variable: string, options: AwsOptions, env: Environment) {
    const { region, profile = "", instanceMetadata, endpoint } = options;
    const variables = { profile, ...(instanceMetadata && { instanceMetadata: "allow" }) };
    this.#service = service;
    this.#place = placeAt("AWS", env, variables);
    this.#region =
      region ?? env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"] ?? regionOfProfile({ env, variables });
    this.#endpoint = endpoint ?? (env[variable] || env["AWS_ENDPOINT_URL"] || undefined);
  }

  /** @param document an ARN has the region of the secret */
  async ask(target: string, body: JsonObject, document: string, stop: AbortSignal): Promise<JsonObject> {
    const region = /^arn:[^:]*:[^:]*:([^:]+):/.exec(document)?.[1] ?? this.#region;
    if (region === undefined) throw new Error("needs a region: set secrets.aws.region or AWS_REGION");
    const ending = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
    const url = `${(this.#endpoint ?? `https://${this.#service}.${region}.${ending}`).replace(/\/+$/, "")}/`;
    const text = JSON.stringify(body);
    const headers = { "content-type": MEDIA, "x-amz-target": target };
    const request = { method: "POST" as const, url: new URL(url), headers, body: [Buffer.from(text)] };
    const keys = await awsKeys(this.#place);
    const signed = signV4(request, { service: this.#service, region, keys, now: Date.now() });
    return expectObject(
      await ask({ url, method: "POST", headers: { ...headers, ...signed }, body: text, stop }),
    );
  }
}
