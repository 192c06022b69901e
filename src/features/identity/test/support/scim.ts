/** A gateway with SCIM, the issuer of its people, and a sender. */
import { expect } from "bun:test";
import { type Serving, serve, until } from "../../../../../test/helpers/serving.ts";
import { personId } from "../../people.ts";
import { Issuer } from "./issuer.ts";
import { Browser, CLIENT, FakeSignIn } from "./sign-in.ts";

export const TOKEN = "planted-scim-token-0123456789-abcdefgh";
const ADMIN = "weir-planted-admin-0001";
const PAINTER = `export default { name: "painter", providers: [{ name: "painter", models: ["picture"],
  async *generate() {
    yield { type: "message-start", id: "a", model: "picture" };
    yield { type: "block-start", index: 0, block: { type: "text" } };
    yield { type: "block-delta", index: 0, delta: "done" };
    yield { type: "block-end", index: 0 };
    const usage = { input: 10, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0, known: "final" };
    yield { type: "message-end", reason: { kind: "stop" }, usage };
  } }] };`;

const GROUPS = {
  "team-*": { member: "/teams/{1}" },
  "llm-admins": { admin: "/" },
  readers: { viewer: "/eng" },
};

export interface Answer {
  readonly status: number;
  readonly json: any;
  readonly headers: Headers;
}

export class ScimGateway {
  private constructor(
    readonly issuer: Issuer,
    readonly provider: FakeSignIn,
    readonly gateway: Serving,
    readonly admin: string,
    readonly port: number,
    readonly store: string | undefined,
  ) {}

  /** @param store URL of PostgreSQL; absent: a file @param identity options in place of the usual ones */
  static async start(
    workers: number,
    store?: string,
    { issuer: given, identity = {} }: { issuer?: Issuer; identity?: object } = {},
  ): Promise<ScimGateway> {
    const issuer = given ?? (await Issuer.start("ES256"));
    const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const port = probe.port!;
    await probe.stop(true);
    const admin = `http://127.0.0.1:${port}`;
    const gateway = await serve({
      workers,
      config: configOf(issuer.url, admin, port, store, identity),
      plugins: { "painter.ts": PAINTER },
    });
    const made = new ScimGateway(issuer, new FakeSignIn(issuer), gateway, admin, port, store);
    const isReady = async () => (await made.scim("GET", "/Users")).status === 200;
    if (!("scim" in identity)) expect(await until(isReady, 15_000)).toBe(true);
    return made;
  }

  /** Another config, once the gateway has it. @param identity options in place of the usual ones */
  async reload(identity: object): Promise<void> {
    this.gateway.configure(configOf(this.issuer.url, this.admin, this.port, this.store, identity));
    const ran = await this.gateway.runBeside("reload");
    expect(ran).toMatchObject({ code: 0 });
  }

  async end(): Promise<void> {
    await this.gateway.end();
    await this.issuer.stop();
  }

  scim(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#ask(method, `/scim/v2${path}`, body, {
      ...{ authorization: `Bearer ${TOKEN}`, "content-type": "application/scim+json" },
      ...headers,
    });
  }

  operate(method: string, path: string, body?: object): Promise<Answer> {
    return this.#ask(method, `/admin/v1${path}`, body, {
      ...{ authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
    });
  }

  /** @throws if the answer is no success @returns what was created */
  async created(path: "/Users" | "/Groups", body: object): Promise<any> {
    const { status, json } = await this.scim("POST", path, body);
    expect([status, json?.detail]).toEqual([201, undefined]);
    return json;
  }

  async patched(path: string, ...operations: object[]): Promise<any> {
    const schemas = ["urn:ietf:params:scim:api:messages:2.0:PatchOp"];
    const { status, json } = await this.scim("PATCH", path, { schemas, Operations: operations });
    expect([status === 204 ? 200 : status, json?.detail]).toEqual([200, undefined]);
    return json;
  }

  idOf(subject: string): string {
    return personId(this.issuer.url, subject);
  }

  async person(subject: string): Promise<any> {
    return (await this.operate("GET", `/people/${this.idOf(subject)}`)).json;
  }

  token(sub: string, more: object = {}): Promise<string> {
    return this.issuer.token({ sub, email: `${sub}@corp.example`, email_verified: true, ...more });
  }

  /** Status of a call over a connection of its own. */
  async call(token: string): Promise<number> {
    const answer = await fetch(`${this.gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", connection: "close" },
      body: JSON.stringify({ model: "painter/picture", messages: [{ role: "user", content: "hello" }] }),
      keepalive: false,
    });
    await answer.text();
    return answer.status;
  }

  /** The statuses of calls that all workers answer. */
  async everywhere(token: string): Promise<number[]> {
    return [...new Set(await Promise.all(Array.from({ length: 16 }, () => this.call(token))))].sort();
  }

  /** A token of weir in exchange. */
  async exchange(token: string): Promise<string> {
    const answer = await fetch(`${this.gateway.url}/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        subject_token: token,
        subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      }),
    });
    const { access_token: made } = (await answer.json()) as { access_token: string };
    expect([answer.status, typeof made]).toEqual([200, "string"]);
    return made;
  }

  async signIn(sub: string, userinfo: object = {}): Promise<{ browser: Browser; status: number }> {
    const browser = new Browser(this.admin);
    const own = {
      sub,
      name: sub,
      email: `${sub}@corp.example`,
      email_verified: true,
      groups: [],
      ...userinfo,
    };
    const answer = await browser.signIn(this.provider, { claims: { sub }, userinfo: own });
    return { browser, status: answer.status };
  }

  async #ask(
    method: string,
    path: string,
    body: object | undefined,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const answer = await fetch(this.admin + path, {
      ...{ method, headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      json: text === "" ? undefined : JSON.parse(text),
      headers: answer.headers,
    };
  }
}

/** The people of a provider are at paths that do not follow from addresses. */
export function providerOf(issuer: string): object {
  const map = { path: "/people/{sub}" };
  return { issuer, audience: "weir", client: CLIENT.id, secret: CLIENT.secret, map };
}

function configOf(
  issuer: string,
  admin: string,
  port: number,
  store: string | undefined,
  identity: object,
): string {
  return JSON.stringify({
    ...{ log: { format: "json" }, admin: { port }, state: "state", ...(store && { store: { url: store } }) },
    adminKeys: [{ name: "boss", key: ADMIN, role: "admin" }],
    prices: { "painter/*": { input: 0, output: 0 } },
    identity: {
      ...{ url: admin, link: "email", scim: { token: TOKEN } },
      tokens: { secret: "planted-secret-of-weirs-own-tokens-0001" },
      providers: { corp: { ...providerOf(issuer), groups: GROUPS } },
      ...identity,
    },
  });
}

export type Gateway = () => ScimGateway;

/** The methods of a gateway, without it in front of each. */
export function bound(on: ScimGateway) {
  return {
    scim: on.scim.bind(on),
    created: on.created.bind(on),
    patched: on.patched.bind(on),
    person: on.person.bind(on),
    everywhere: on.everywhere.bind(on),
  };
}

/** A user as Okta writes it, whose subject is the name. */
export const oktaUser = (name: string, more: object = {}) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
  userName: `${name}@corp.example`,
  name: { givenName: name, familyName: "Doe" },
  emails: [{ primary: true, value: `${name}@corp.example`, type: "work" }],
  displayName: `${name} Doe`,
  locale: "en-US",
  externalId: name,
  groups: [],
  password: "planted-password-1mz050nq",
  active: true,
  ...more,
});
