/** What the keeper needs to give tokens to programs of people. Plain JSON: workers send it over the private link. */
import type { IdentityConfig } from "../declarations.ts";
import { claudeCodeOf } from "../claude-code/section.ts";
import { durationMs } from "../section.ts";

export interface AuthorizationSettings {
  /** Issuer and audience, without a slash at the end. */
  readonly url: string;
  readonly secret: string;
  /** Lives of access and refresh tokens. Milliseconds. */
  readonly accessMs: number;
  readonly refreshMs: number;
  /** Whether programs may register themselves (RFC 7591). */
  readonly registers: boolean;
  /** Whether programs may be known by a document at their address. */
  readonly readsDocuments: boolean;
  /** Label that Claude Code puts on its requests. */
  readonly label?: string;
  /** Hosts whose documents may be at addresses of this network. */
  readonly hosts: readonly string[];
}

/** @returns undefined without an address and a secret */
export function authorizationSettings({
  url,
  tokens,
  clients,
}: IdentityConfig): AuthorizationSettings | undefined {
  const secret = tokens.secret?.reveal();
  if (url === undefined || secret === undefined) return undefined;
  const label = claudeCodeOf({ clients })?.tag;
  return {
    ...(label !== undefined && { label }),
    ...{ url: url.replace(/\/$/, ""), secret },
    ...{ accessMs: durationMs(tokens.access), refreshMs: durationMs(tokens.refresh) },
    ...{ registers: clients.dcr, readsDocuments: clients.mcp, hosts: clients.hosts ?? [] },
  };
}
