/**
 * A feature with a form of credentials of its own, for tests: signed tokens of three parts, which name a person and a path. The test of
 * several workers copies this file to a copy of the source.
 */
import { existsSync, readFileSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { section } from "../../src/config/section.ts";
import { GatewayError } from "../../src/core/error.ts";
import type { Principal } from "../../src/core/principal.ts";
import type { Feature } from "../../src/feature/feature.ts";
import type { CredentialForm } from "../../src/gateway/credentials.ts";
import type { WorkerHost, WorkerPart } from "../../src/gateway/seams.ts";

/** The content of a token. */
export interface Claims {
  /** The person. */
  sub: string;
  path: string;
  /** Models that the token may use. Default: all. */
  models?: string[];
  /** Seconds since 1970. */
  exp?: number;
  /** Makes two tokens of one person differ. */
  jti?: string;
}

const ISSUER = "tokens.test";

/** A token for a client. */
export function makeToken(claims: Claims, secret: string): string {
  const [head, body] = [{ iss: ISSUER }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  return `${head}.${body}.${signatureOf(`${head}.${body}`, secret)}`;
}

function signatureOf(text: string, secret: string): string {
  return new Bun.CryptoHasher("sha256", secret).update(text).digest("base64url");
}

const tokenSection = section(
  "tokens",
  Type.Object(
    {
      secret: Type.String({ default: "", description: "Signs the tokens. Empty: there are none." }),
      revoked: Type.String({
        default: "",
        description: "A file with a line for each token that is revoked.",
      }),
    },
    { additionalProperties: false, description: "Tokens of a test." },
  ),
);

/** Between two looks at the file of the revoked tokens. Milliseconds. */
const LOOK_MS = 100;

class TokenForm implements CredentialForm {
  readonly name = "tokens of the test";
  readonly example = makeToken({ sub: "nobody", path: "/" }, "");
  /** One object for each token. */
  readonly #known = new Map<string, Principal>();

  constructor(
    private readonly host: Pick<WorkerHost, "clock" | "principal">,
    private readonly options: { secret: string; revoked: string },
  ) {}

  /** Ends the running calls of revoked tokens. */
  endRevoked(): void {
    for (const [text, principal] of this.#known) {
      if (!this.#isRevoked(text)) continue;
      this.#known.delete(text);
      this.host.clock.end(refused("The token was revoked."), (call) => call.principal === principal);
    }
  }

  #isRevoked(text: string): boolean {
    const { revoked } = this.options;
    return revoked !== "" && existsSync(revoked) && readFileSync(revoked, "utf8").includes(text);
  }

  claims(text: string): boolean {
    const [head, , , ...more] = text.split(".");
    return more.length === 0 && Buffer.from(head!, "base64url").toString() === `{"iss":"${ISSUER}"}`;
  }

  async check(text: string): Promise<Principal> {
    const { secret } = this.options;
    await Bun.sleep(1);
    if (this.#isRevoked(text)) throw refused("The token was revoked.");
    const known = this.#known.get(text);
    if (known) return known;
    const [head, body, signature] = text.split(".");
    if (signature !== signatureOf(`${head}.${body}`, secret)) throw refused("The token is not valid.");
    const { sub, path, models, exp } = JSON.parse(Buffer.from(body!, "base64url").toString()) as Claims;
    const principal = this.host.principal({
      ...{ id: sub, name: sub, person: sub, path, via: "token" },
      ...(models && { scopes: { models } }),
      ...(exp !== undefined && { until: exp * 1000 }),
    });
    this.#known.set(text, principal);
    return principal;
  }
}

function refused(sentence: string): GatewayError {
  return new GatewayError("authentication", sentence, { code: "token_refused" });
}

function start(host: WorkerHost): WorkerPart {
  let timer: Timer | undefined;
  return {
    seams(config) {
      clearInterval(timer);
      const options = tokenSection.of(config);
      if (options.secret === "") return undefined;
      const form = new TokenForm(host, options);
      timer = setInterval(() => form.endRevoked(), LOOK_MS);
      return { credentials: [form] };
    },
    stop: () => clearInterval(timer),
  };
}

export const tokens: Feature = {
  ...{ name: "tokens", section: tokenSection },
  worker: async () => ({ start }),
};
