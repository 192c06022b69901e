/** What requests to a server carry, and why there may be nothing to carry. */
import type { JsonObject } from "../../../core/json.ts";
import { CODE, McpError } from "../wire/messages.ts";

/** How weir proves to a server who it is, or who asks. */
export interface Credential {
  /**
   * @returns lower-case names
   * @throws McpError 1002 if there is no token to be had
   */
  headers(): Promise<Readonly<Record<string, string>>>;
  /**
   * The server answered with 401 or 403.
   * @returns whether the request is worth another try
   * @throws NeedsUser if the caller has to connect its account first; McpError 1002
   */
  refused(answer: { status: number; challenge: string | undefined }): Promise<boolean>;
}

/** Why an authorization server gave nothing, as a clause for the operator. It has no token and no secret. */
export class AuthFault extends Error {
  override readonly name = "AuthFault";
}

/** The authorization server does not accept a code or a refresh token, or not any more. */
export class GrantRefused extends AuthFault {}

/** The caller has to open a link. Clients of 2025-11-25 get this error as it is. */
export class NeedsUser extends McpError {
  readonly server: string;
  readonly link: string;
  /** Parameters of `elicitation/create`. */
  readonly elicitation: JsonObject;

  constructor(server: string, link: string) {
    const message = `server ${server} needs your account: open ${link}`;
    const elicitation = { mode: "url", elicitationId: crypto.randomUUID(), url: link, message };
    super(CODE.url, message, { data: { elicitations: [elicitation] } });
    this.server = server;
    this.link = link;
    this.elicitation = elicitation;
  }
}

/** An error for the client: servers that cannot be reached and those that cannot be asked are alike. */
export function unreachable(server: string, thrown: unknown): unknown {
  if (!(thrown instanceof AuthFault)) return thrown;
  return new McpError(CODE.unreachable, `server ${server} cannot be reached: ${thrown.message}`, {
    data: { server },
  });
}
