/** Stand-ins for the endpoints of AWS that give temporary keys: STS, single sign-on, container, instance metadata. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Answer } from "./answers.ts";
import { json } from "./answers.ts";
import type { Upstream, UpstreamRequest } from "./upstream.ts";
import { startUpstream } from "./upstream.ts";
import { signatureFault } from "./verify-sig-v4.ts";

/** Temporary keys, by their number. */
export const keysOf = (number: number) => ({
  AccessKeyId: `ASIACANARY${number}`,
  SecretAccessKey: `temporary-secret-canary-${number}-0123456789`,
  SessionToken: `temporary-session-canary-${number}-0123456789`,
});

export interface KeyEndpoints extends Upstream {
  /** Number of keys issued so far. */
  issued: number;
  /** How long the next keys are valid. Seconds. */
  validSeconds: number;
  /** Secret keys by the id of their access key: those issued, for a fake that verifies signatures. */
  secrets: Record<string, string>;
  /** Refuses further requests with this answer. */
  refusal?: Answer;
  /** Requests for keys, each as `POST AssumeRole …` or `GET /path`. */
  asked: string[];
}

/** @param long keys that may assume a role: secret by the id of the access key */
export function startKeyEndpoints(long: Readonly<Record<string, string>> = {}): KeyEndpoints {
  const upstream = startUpstream(async (request) => {
    await Bun.sleep(5);
    if (endpoints.refusal) return endpoints.refusal;
    return request.method === "POST" ? sts(request) : metadata(request);
  });
  const endpoints: KeyEndpoints = Object.assign(upstream, {
    ...{ issued: 0, validSeconds: 3600, secrets: {} as Record<string, string>, asked: [] as string[] },
  });

  function issue() {
    const keys = keysOf(++endpoints.issued);
    endpoints.secrets[keys.AccessKeyId] = keys.SecretAccessKey;
    return { ...keys, Expiration: new Date(Date.now() + endpoints.validSeconds * 1000).toISOString() };
  }

  function sts(request: UpstreamRequest): Answer {
    const form = new URLSearchParams(request.body.toString());
    const action = form.get("Action")!;
    endpoints.asked.push(`${action} ${form.get("RoleArn")} ${form.get("RoleSessionName")}`);
    const fault = action === "AssumeRole" ? signatureFault(request, long) : undefined;
    if (fault !== undefined || (action !== "AssumeRole" && form.get("WebIdentityToken") !== WEB_TOKEN))
      return xml(`<Error><Code>InvalidClientTokenId</Code><Message>${fault}</Message></Error>`, 403);
    const inner = Object.entries(issue()).map(([name, value]) => `<${name}>${value}</${name}>`);
    return xml(`<Result><Credentials>\n${inner.join("\n")}\n</Credentials></Result>`, 200);
  }

  function metadata({ method, path, headers }: UpstreamRequest): Answer {
    endpoints.asked.push(`${method} ${path}`);
    if (path === "/latest/api/token") return { status: 200, body: "instance-token" };
    if (path.startsWith("/latest/meta-data/")) {
      if (headers.get("x-aws-ec2-metadata-token") !== "instance-token") return { status: 401, body: "" };
      if (path.endsWith("/security-credentials/")) return { status: 200, body: "the-role\n" };
      const { SessionToken: Token, ...keys } = issue();
      return json({ Code: "Success", ...keys, Token });
    }
    if (path.startsWith("/container")) {
      if (headers.get("authorization") !== CONTAINER_TOKEN) return { status: 401, body: "" };
      const { SessionToken: Token, ...keys } = issue();
      return json({ ...keys, Token });
    }
    if (headers.get("x-amz-sso_bearer_token") !== SSO_TOKEN) return { status: 401, body: "" };
    const {
      AccessKeyId: accessKeyId,
      SecretAccessKey: secretAccessKey,
      SessionToken: sessionToken,
    } = issue();
    const expiration = Date.now() + endpoints.validSeconds * 1000;
    return json({ roleCredentials: { accessKeyId, secretAccessKey, sessionToken, expiration } });
  }

  return endpoints;
}

export const WEB_TOKEN = "web-identity-canary-0123456789";
export const CONTAINER_TOKEN = "container-token-canary-0123456789";
export const SSO_TOKEN = "sso-token-canary-0123456789";

function xml(text: string, status: number): Answer {
  return { status, headers: { "content-type": "text/xml" }, body: `<Response>${text}</Response>` };
}

/** A home folder with these files, by their path in it. */
export function makeHome(files: Readonly<Record<string, string>>): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "weir-home-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return { path, remove: () => rmSync(path, { recursive: true }) };
}
