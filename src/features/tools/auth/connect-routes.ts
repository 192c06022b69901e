/** The routes by which browsers connect accounts at servers, on the gateway's listener. */
import { GatewayError } from "../../../core/error.ts";
import type { BrowserUser, OwnRoute, Visit } from "../../../gateway/seams.ts";
import { ANYONE } from "../asks.ts";
import { clientDescription } from "./authorities.ts";
import type { AskConnect, ConnectAnswer, LinkOf } from "./connecting.ts";
import { awayPage, connectedPage, consentPage, faultPage, gonePage, keyPage, openPage } from "./pages.ts";

const MOST_FORM = 16_384;
const COOKIE_SECONDS = 600;
/** Ids of principals that are keys: they show themselves by the key. */
const IS_KEY = /^(key_|config:)/;

/** @param url public address of weir */
export function connectRoutes(ask: AskConnect, url: string): OwnRoute[] {
  const plain = url.replace(/\/$/, "");
  const pages = new ConnectPages(ask, plain);
  const connect = { path: "/mcp/connect/{server}" };
  return [
    {
      ...{ ...connect, method: "GET", id: "connectPage", summary: "Connect an account at a server of tools" },
      handle: (request, visit) => pages.show(request, visit),
    },
    {
      ...{ ...connect, method: "POST", id: "connectAccount", summary: "The form of that page" },
      handle: (request, visit) => pages.decide(request, visit),
    },
    {
      ...{ method: "GET", path: "/mcp/oauth/callback", id: "connectedAccount" },
      summary: "Where an authorization server sends the browser back to",
      handle: (request) => pages.back(request),
    },
    {
      ...{ method: "GET", path: "/oauth/client.json", id: "clientDocument" },
      summary: "weir as a client of authorization servers (CIMD)",
      handle: () =>
        Response.json(
          { client_id: `${plain}/oauth/client.json`, ...clientDescription(plain) },
          { headers: { "cache-control": "public, max-age=3600" } },
        ),
    },
  ];
}

type Given = { readonly link: LinkOf; readonly owner: string; readonly host: string };
type SignedIn = Extract<BrowserUser, { person: string }>;

class ConnectPages {
  readonly #ask: AskConnect;
  readonly #url: string;
  readonly #isSecure: boolean;

  constructor(ask: AskConnect, url: string) {
    this.#ask = ask;
    this.#url = url;
    this.#isSecure = url.startsWith("https:");
  }

  async show(request: Request, visit: Visit): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const given = await this.#given(pathname, searchParams.get("t"));
    if (!given) return gonePage();
    const shown = shownOf(given);
    if (given.owner === ANYONE) return openPage(shown);
    const user = await this.#user(given, visit);
    if (!user) return keyPage(shown);
    if (user instanceof Response) return user;
    return consentPage(shown, user.name, formToken(user, given.link));
  }

  async decide(request: Request, visit: Visit): Promise<Response> {
    if (request.headers.get("origin") !== new URL(this.#url).origin)
      return faultPage("This form is of another site.", 403);
    const form = new URLSearchParams(new TextDecoder().decode(await visit.body(MOST_FORM)));
    const given = await this.#given(new URL(request.url).pathname, form.get("t"));
    if (!given) return gonePage();
    const refused = given.owner === ANYONE ? undefined : await this.#refusal(given, form, visit);
    if (refused) return refused;
    const answer = await this.#ask({ link: given.link, owner: given.owner });
    if (!("begun" in answer)) return unexpected(answer);
    const { location, state, binding } = answer.begun;
    const away = awayPage(location);
    away.headers.append("set-cookie", this.#cookie(state, binding, COOKIE_SECONDS));
    return away;
  }

  async back(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    for (const name of new Set(searchParams.keys()))
      if (searchParams.getAll(name).length > 1) return faultPage(`The answer has ${name} twice.`);
    const value = (name: string) => searchParams.get(name) ?? undefined;
    const [state = "", code, iss, error] = [value("state"), value("code"), value("iss"), value("error")];
    const binding = cookieIn(request.headers, this.#cookieName(state));
    if (binding === undefined) return faultPage("Nobody has asked for this in this browser.", 403);
    const finish = {
      ...{ state, binding },
      ...(code !== undefined && { code }),
      ...(iss !== undefined && { iss }),
      ...(error !== undefined && { error }),
    };
    const answer = await this.#ask({ finish });
    const page = "server" in answer ? connectedPage(answer.server) : unexpected(answer);
    page.headers.append("set-cookie", this.#cookie(state, "", 0));
    return page;
  }

  /** The link of a request; undefined: it is none any more. */
  async #given(pathname: string, secret: string | null): Promise<Given | undefined> {
    const server = /^\/mcp\/connect\/([a-z0-9-]+)$/.exec(pathname)?.[1];
    if (server === undefined || secret === null) return undefined;
    const link = { server, secret };
    const answer = await this.#ask({ link });
    return "link" in answer ? { link, ...answer.link } : undefined;
  }

  /** Who is signed in with the browser, if people show themselves so. @returns an answer for somebody else */
  async #user({ link, owner }: Given, visit: Visit): Promise<SignedIn | Response | undefined> {
    if (IS_KEY.test(owner)) return undefined;
    const user = await visit.browser(`/mcp/connect/${link.server}?t=${encodeURIComponent(link.secret)}`);
    if (!user) return undefined;
    if ("signIn" in user) return new Response(null, { status: 303, headers: { location: user.signIn } });
    if (user.person === personIn(owner)) return user;
    await this.#ask({ link, refuse: true });
    return faultPage("This link is for somebody else.", 403);
  }

  /** @returns an answer for somebody who has not shown that the link is its own */
  async #refusal(given: Given, form: URLSearchParams, visit: Visit): Promise<Response | undefined> {
    const user = await this.#user(given, visit);
    if (user instanceof Response) return user;
    if (user) {
      const isOwn = isSame(form.get("token") ?? "", formToken(user, given.link));
      return isOwn ? undefined : faultPage("This form is not of your session. Open the link again.", 403);
    }
    if ((await callerWith(form.get("key"), visit)) === given.owner) return undefined;
    await this.#ask({ link: given.link, refuse: true });
    return keyPage(shownOf(given), "This is not the key with which the link was asked for.");
  }

  #cookieName(state: string): string {
    return `${this.#isSecure ? "__Host-" : ""}weir-connect-${/^[\w-]{8}/.exec(state)?.[0] ?? "none"}`;
  }

  /** `Lax`: the way back comes from another site. */
  #cookie(state: string, value: string, seconds: number): string {
    const secure = this.#isSecure ? "; Secure" : "";
    return `${this.#cookieName(state)}=${value}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Lax${secure}`;
  }
}

function shownOf({ link, host }: Given) {
  return { ...link, host };
}

/** The ids of callers without a key have the name of a feature in front. */
function personIn(owner: string): string {
  return owner.slice(owner.indexOf("/") + 1);
}

/** @returns id of the principal with a credential; undefined: it is none */
async function callerWith(credential: string | null, visit: Visit): Promise<string | undefined> {
  if (credential === null || credential.trim() === "") return undefined;
  try {
    return (await visit.callerWith(credential.trim(), "tools"))?.id;
  } catch (thrown) {
    if (thrown instanceof GatewayError && (thrown.kind === "authentication" || thrown.kind === "permission"))
      return undefined;
    throw thrown;
  }
}

/** What only this session can have in a form for this link. */
function formToken({ session }: SignedIn, { secret }: LinkOf): string {
  return new Bun.CryptoHasher("sha256").update(`connect ${session} ${secret}`).digest("base64url");
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && crypto.timingSafeEqual(a, b);
}

/** Two cookies with one name are none: another host has set one of them. */
function cookieIn(headers: Headers, name: string): string | undefined {
  const found = (headers.get("cookie") ?? "").split(";").flatMap((pair) => {
    const [key, value] = pair.trim().split("=", 2);
    return key === name && value !== undefined && value !== "" ? [value] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

function unexpected(answer: ConnectAnswer): Response {
  if ("fault" in answer) return faultPage(`The account was not connected: ${answer.fault}.`);
  return gonePage();
}
