/** Identity providers of others, from a folder into which somebody has installed them, and a browser that fills in their forms. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../../../test/helpers/serving.ts";

/** The folder: `npm install oidc-provider@9.13.3 oauth2-mock-server@9.3.0` there, and a `venv` with `oidc-provider-mock==0.3.4`. */
const FOLDER = process.env["WEIR_PROVIDERS"];

/** Why tests with a provider are skipped; undefined where they run. */
export function missing(name: "oidc-provider" | "oauth2-mock-server" | "venv"): string | undefined {
  if (FOLDER === undefined) return "WEIR_PROVIDERS names no folder with identity providers";
  const path =
    name === "venv" ? join(FOLDER, "venv/bin/oidc-provider-mock") : join(FOLDER, "node_modules", name);
  return existsSync(path) ? undefined : `there is no ${path}`;
}

export interface RealProvider {
  readonly issuer: string;
  stop(): Promise<void>;
}

/** Where weir is, and what it is there. */
export interface Registration {
  readonly weir: string;
  readonly client: string;
  readonly secret: string;
}

/** Somebody at oidc-provider; undefined members are not there. */
export const PEOPLE = new Map<string, Record<string, unknown>>();

/** @param client members of the client @param more members of the configuration */
export async function startOidcProvider(
  { weir, client, secret }: Registration,
  own: object = {},
  more: object = {},
): Promise<RealProvider> {
  const { Provider } = (await import(join(FOLDER!, "node_modules/oidc-provider/lib/index.js"))) as {
    Provider: new (
      issuer: string,
      configuration: object,
    ) => {
      listen(port: number, host: string): { close(done: () => void): void; closeAllConnections(): void };
    };
  };
  const issuer = `http://127.0.0.1:${freePort()}`;
  const { features = {}, ...rest } = more as { features?: object };
  const made = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: client, client_secret: secret, response_types: ["code"] },
        redirect_uris: [`${weir}/auth/callback/corp`],
        post_logout_redirect_uris: [`${weir}/auth/`],
        grant_types: ["authorization_code", "refresh_token"],
        backchannel_logout_uri: `${weir}/auth/backchannel/corp`,
        backchannel_logout_session_required: true,
        ...own,
      },
    ],
    features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: true }, ...features },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    pkce: { required: () => true },
    async findAccount(_: unknown, id: string) {
      const claims = PEOPLE.get(id);
      return claims && { accountId: id, claims: async () => ({ sub: id, ...claims }) };
    },
    ...rest,
  });
  const server = made.listen(Number(new URL(issuer).port), "127.0.0.1");
  return { issuer, stop: async () => (server.closeAllConnections(), server.close(() => {})) };
}

/** It signs everybody in without asking. @param groups of the person */
export async function startMockServer(groups: readonly string[]): Promise<RealProvider> {
  const { OAuth2Server } = (await import(
    join(FOLDER!, "node_modules/oauth2-mock-server/dist/index.mjs")
  )) as {
    OAuth2Server: new () => any;
  };
  const server = new OAuth2Server();
  await server.issuer.keys.generate("RS256");
  await server.start(0, "127.0.0.1");
  // It names localhost, whatever it listens on.
  server.issuer.url = `http://127.0.0.1:${server.address().port}`;
  server.service.on("beforeTokenSigning", ({ payload }: any) =>
    Object.assign(payload, { groups, email: "mock@corp.example", email_verified: true }),
  );
  return { issuer: server.issuer.url, stop: () => server.stop() };
}

/** A server with Authlib, in a process of its own. */
export async function startAuthlib(user: object): Promise<RealProvider> {
  const port = freePort();
  const program = join(FOLDER!, "venv/bin/oidc-provider-mock");
  const claims = ["--user-claims", JSON.stringify(user)];
  const child = Bun.spawn([program, "--port", String(port), ...claims], {
    ...{ stdin: "ignore", stdout: "ignore", stderr: "ignore" },
  });
  const issuer = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 200; tries++) {
    const answer = await fetch(`${issuer}/.well-known/openid-configuration`).catch(() => undefined);
    if (answer?.ok) break;
    await Bun.sleep(100);
  }
  return {
    issuer,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

/** A browser at weir and at a provider. It has a jar of cookies for each, and sends the first form of each page. */
export class Walker {
  readonly jars = new Map<string, Map<string, string>>();
  /** The pages that it has seen. */
  readonly steps: string[] = [];

  constructor(readonly fields: Readonly<Record<string, string>>) {}

  async go(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const jar = this.jars.get(host) ?? new Map<string, string>();
    this.jars.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...(cookie !== "" && { cookie }), ...(init.headers as Record<string, string>) };
    const answer = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const set of answer.headers.getSetCookie()) {
      const [pair = ""] = set.split(";");
      const at = pair.indexOf("=");
      const isGone = /max-age=0|expires=thu, 01 jan 1970/i.test(set) || at === pair.length - 1;
      if (isGone) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return answer;
  }

  /** Follows redirects and sends forms until a page of weir. @returns that page's answer */
  async walk(begin: string, weir: string, init: RequestInit = {}): Promise<Response> {
    let url = begin;
    let answer = await this.go(url, init);
    for (let step = 0; step < 20; step++) {
      this.steps.push(new URL(url).pathname);
      const location = answer.headers.get("location");
      if (location !== null) {
        url = new URL(location, url).href;
        answer = await this.go(url);
        continue;
      }
      if (url.startsWith(weir)) return answer;
      const form = formIn(await answer.text(), this.fields);
      if (!form) throw new Error(`no form at ${url} (${answer.status})`);
      url = new URL(form.action || url, url).href;
      const origin = new URL(url).origin;
      answer = await this.go(url, { method: "POST", body: form.body, headers: { origin } });
    }
    throw new Error(`it does not end: ${this.steps.join(" ")}`);
  }
}

/** The first form of a page, filled in. */
function formIn(
  html: string,
  fields: Readonly<Record<string, string>>,
): { action: string; body: URLSearchParams } | undefined {
  const [, head = "", inner = ""] = /<form([^>]*)>([\s\S]*?)<\/form>/i.exec(html) ?? [];
  if (inner === "") return undefined;
  const body = new URLSearchParams();
  for (const [, tag = ""] of inner.matchAll(/<(?:input|button)\b([^>]*)>/gi)) {
    const name = attribute(tag, "name");
    if (name !== undefined) body.set(name, fields[name] ?? attribute(tag, "value") ?? "");
  }
  return { action: attribute(head, "action") ?? "", body };
}

function attribute(tag: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}="([^"]*)"`, "i").exec(tag)?.[1];
  return found?.replaceAll("&amp;", "&");
}
