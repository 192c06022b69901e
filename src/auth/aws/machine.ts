/** Keys from the machine that weir runs on: a container on ECS or EKS, an instance on EC2. */
import { readFileSync } from "node:fs";
import type { Surroundings } from "../../core/endpoint.ts";
import type { Place } from "../../core/place.ts";
import type { FoundKeys } from "./found-keys.ts";
import { keysInJson } from "./found-keys.ts";

const ECS = "http://169.254.170.2";
/** Hosts that may get the token of a container without TLS. */
const CONTAINER_HOSTS = new Set(["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]", "localhost", "[::1]"]);

export function containerUrl({ env }: Surroundings): string | undefined {
  const path = env["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"];
  return path ? ECS + path : env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] || undefined;
}

/** @throws Error for an address that must not get the token of the container */
export async function containerKeys(place: Place): Promise<FoundKeys> {
  const given = containerUrl(place)!;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isLocal = url && (CONTAINER_HOSTS.has(url.hostname) || url.hostname.startsWith("127."));
  if (!url || !(url.protocol === "https:" || (url.protocol === "http:" && isLocal)))
    throw new Error("AWS_CONTAINER_CREDENTIALS_FULL_URI must be an https URL, or one of this machine.");
  const file = place.env["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"];
  const token = file ? readFileSync(file, "utf8").trim() : place.env["AWS_CONTAINER_AUTHORIZATION_TOKEN"];
  if (token) place.conceal(token);
  const { status, text } = await place.fetch({
    url: url.href,
    headers: token ? { authorization: token } : {},
    direct: url.protocol === "http:",
  });
  if (status !== 200) throw new Error(`The container's credentials were refused with status ${status}.`);
  return keysInJson(place, "The container's endpoint", text);
}

const INSTANCE = "http://169.254.169.254";
const ROLES = "/latest/meta-data/iam/security-credentials/";
const TOKEN_SECONDS = "21600";
/** The endpoint is on the same machine; elsewhere the address leads nowhere. Milliseconds. */
const INSTANCE_MS = 1000;

/** The keys of an EC2 instance, from version 2 of its metadata service. */
export async function instanceKeys(place: Place): Promise<FoundKeys> {
  const base = (place.env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] || INSTANCE).replace(/\/$/, "");
  const ask = async (path: string, method: "GET" | "PUT", headers: Record<string, string>) => {
    const answer = await place.fetch({
      ...{ url: base + path, method, headers },
      ...{ timeoutMs: INSTANCE_MS, direct: true },
    });
    if (answer.status !== 200)
      throw new Error(`The instance metadata service answered ${path} with status ${answer.status}.`);
    return answer.text.trim();
  };
  const token = await ask("/latest/api/token", "PUT", {
    "x-aws-ec2-metadata-token-ttl-seconds": TOKEN_SECONDS,
  });
  const headers = { "x-aws-ec2-metadata-token": token };
  const role = await ask(ROLES, "GET", headers);
  const text = await ask(ROLES + role.split("\n")[0]!, "GET", headers);
  return keysInJson(place, "The instance metadata service", text);
}
