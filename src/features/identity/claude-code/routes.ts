/** What Claude Code asks a gateway beside the answers of models, with the token of the person who signed in. */
import { GatewayError } from "../../../core/error.ts";
import { type Principal } from "../../../core/principal.ts";
import { assertCurrent, CHALLENGE } from "../../../gateway/credentials.ts";
import type { OwnRoute, WorkerHost } from "../../../gateway/seams.ts";
import type { ClaudeCodeConfig } from "../own/declarations.ts";
import type { TokenForm } from "../form.ts";
import { answer, answered } from "./answers.ts";
import { modelNames } from "./available-models.ts";
import { isUnchanged, ManagedSettings } from "./managed-settings.ts";
import { SIGNALS, Telemetry } from "./telemetry.ts";
import { usageOf } from "./usage.ts";

export function claudeCodeRoutes(config: ClaudeCodeConfig, form: TokenForm, host: WorkerHost): OwnRoute[] {
  const managed = new ManagedSettings(config.settings ?? {});
  const telemetry = new Telemetry(config, host);
  return [
    {
      ...{ method: "GET", path: "/managed/settings", id: "managedSettings" },
      summary: "Managed settings of Claude Code for the person who asks",
      handle: (request) =>
        answered(async () => {
          const principal = await asking(request, form);
          const document = managed.of(principal.path, await modelNames(principal, host));
          if (!document) throw new GatewayError("not-found", "Nothing is configured for you.");
          const { body, etag } = document;
          const isKnown = isUnchanged(request.headers.get("if-none-match"), etag);
          return isKnown
            ? new Response(null, { status: 304, headers: { etag } })
            : answer(body, 200, { etag });
        }),
    },
    {
      ...{ method: "GET", path: "/api/oauth/usage", id: "claudeCodeUsage" },
      summary: "What the person who asks has spent, and the budgets that count it",
      handle: (request) =>
        answered(async () => {
          const standing = await host.ledger.standing?.(await asking(request, form));
          if (!standing) throw new GatewayError("not-found", "This gateway shows no amounts.");
          return answer(JSON.stringify(usageOf(standing)));
        }),
    },
    ...SIGNALS.map((signal): OwnRoute => ({
      ...{
        method: "POST",
        path: `/v1/${signal}`,
        id: `claudeCode${signal[0]!.toUpperCase()}${signal.slice(1)}`,
      },
      summary: `Take the ${signal} that Claude Code exports (OTLP)`,
      handle: (request) =>
        answered(async () => {
          await telemetry.take(signal, request, await asking(request, form));
          return answer("{}");
        }),
    })),
  ];
}

/** Who asks. @throws GatewayError `authentication` and what the form throws */
async function asking(request: Request, form: TokenForm): Promise<Principal> {
  const [, token] = /^bearer[ \t]+(\S+)[ \t]*$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (token === undefined || !form.claims(token))
    throw new GatewayError("authentication", "The request needs the token of a sign-in at this gateway.", {
      ...{ code: "invalid_token", shouldRetry: false },
      ...CHALLENGE,
    });
  const principal = await form.check(token);
  assertCurrent(principal);
  return principal;
}
