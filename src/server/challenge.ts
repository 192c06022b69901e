/** What programs that sign people in by OAuth read of a refusal: where they get a credential, and for what (RFC 6750, RFC 9728). */
import { GatewayError } from "../core/error.ts";
import type { Issued, Resource } from "../gateway/credentials.ts";

/** Where the document of a resource is (RFC 9728 3.1). */
const DOCUMENTS = "/.well-known/oauth-protected-resource";

/** Gives the refusals of who asks the challenge of a resource. @throws what `asking` throws */
export async function challenging<Found>(
  asking: () => Promise<Found>,
  resource: Resource,
  issued: Issued | undefined,
): Promise<Found> {
  try {
    return await asking();
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    const challenge = challengeOf(thrown, resource, issued);
    throw challenge === undefined
      ? thrown
      : thrown.with({ headers: { ...thrown.headers, "www-authenticate": challenge } });
  }
}

/** @returns the value of `www-authenticate`; undefined for an error that another credential does not help */
function challengeOf(
  { kind, code, headers = {} }: GatewayError,
  { path, scopes }: Resource,
  issued: Issued | undefined,
): string | undefined {
  const isNarrow = kind === "permission" && code === "insufficient_scope";
  if (kind !== "authentication" && !isNarrow) return undefined;
  if (!issued) return 'Bearer realm="weir"';
  const document = `resource_metadata="${issued.url}${DOCUMENTS}${path}"`;
  if (isNarrow) return `Bearer error="insufficient_scope", scope="${scopes.join(" ")}", ${document}`;
  const isToken = headers["www-authenticate"]?.includes("invalid_token") ?? false;
  return `Bearer ${isToken ? 'error="invalid_token", ' : ""}${document}, scope="${scopes[0]}"`;
}
