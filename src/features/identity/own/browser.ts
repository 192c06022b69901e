/** What browsers of people ask of the authorization server, on the admin listener: the pages, and the endpoints beside them. */
import type { AskedPage } from "../../../admin/own-pages.ts";
import type { Actor } from "../../../keeper/store/store.ts";
import { HEADERS } from "../../../core/page.ts";
import type { Session } from "../sign-in/session-book.ts";
import { Attempts } from "./attempts.ts";
import type { OAuthAsk } from "../messages.ts";
import type { AuthorizationServer } from "./authorization-server.ts";
import { metadata } from "./metadata.ts";
import { answerOf, Form, formOf, OAuthError, respond, textOf } from "./oauth.ts";
import { codePage, consentPage, devicePage, donePage, faultPage } from "./pages.ts";
import { hasRedirect, type Program } from "./programs.ts";
import { grantedScope } from "./scope.ts";
import type { AuthorizationSettings } from "./settings.ts";

/** Wrong codes of one person, and of one address, in a minute. */
const MOST_WRONG = 5;

/** Who is signed in, and something that only this session has. */
export interface SignedInBrowser {
  readonly session: Session;
  readonly binding: string;
}

export interface BrowserOptions {
  readonly server: AuthorizationServer;
  readonly settings: AuthorizationSettings;
  /** Who has the session of a request. */
  who(request: Request, asked: AskedPage): Promise<SignedInBrowser | undefined>;
  /** Where a browser signs in that comes back to `to` then. */
  signIn(to: string): string;
  /** Adds an entry to the audit log. */
  note(actor: Actor, action: string, subject: string, facts: object): Promise<void>;
  now(): number;
}

const ENDPOINTS: Readonly<Record<string, OAuthAsk["endpoint"]>> = {
  "/oauth/device_authorization": "device",
  "/oauth/token": "token",
  "/oauth/revoke": "revoke",
};

/** A request of a program for a code (RFC 6749 4.1.1, RFC 7636, RFC 8707). */
interface AuthorizationRequest {
  readonly program: Program;
  readonly redirect: string;
  readonly challenge: string;
  readonly scope: string;
  readonly audience: string;
  readonly state: string | undefined;
}

export class OAuthBrowser {
  readonly #options: BrowserOptions;
  readonly #wrong: Attempts;

  constructor(options: BrowserOptions) {
    this.#options = options;
    this.#wrong = new Attempts(MOST_WRONG, options.now);
  }

  /** @returns undefined for a path that is none of its own */
  page(request: Request, asked: AskedPage): Promise<Response> | undefined {
    const { server, settings } = this.#options;
    const { pathname } = asked.url;
    if (pathname === "/device") return this.#device(request, asked);
    if (pathname === "/oauth/authorize") return this.#authorize(request, asked);
    if (pathname === "/oauth/jwks")
      return server.published().then((body) => respond({ status: 200, body }, "public, max-age=3600"));
    if (/^\/\.well-known\/(oauth-authorization-server|openid-configuration)$/.test(pathname))
      return Promise.resolve(
        respond(
          { status: 200, body: metadata({ url: server.url, signsIn: settings }) },
          "public, max-age=3600",
        ),
      );
    const endpoint = pathname === "/oauth/register" && settings.registers ? "register" : ENDPOINTS[pathname];
    return endpoint && this.#endpoint(request, asked, endpoint);
  }

  async #endpoint(
    request: Request,
    { address }: AskedPage,
    endpoint: OAuthAsk["endpoint"],
  ): Promise<Response> {
    if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
    try {
      const content =
        endpoint === "register" ? { text: await textOf(request) } : { form: (await formOf(request)).pairs() };
      return respond(await this.#options.server.answer({ endpoint, ...content, address }));
    } catch (thrown) {
      if (thrown instanceof OAuthError) return respond(answerOf(thrown));
      throw thrown;
    }
  }

  async #device(request: Request, asked: AskedPage): Promise<Response> {
    const { server, who, signIn, now } = this.#options;
    const found = await who(request, asked);
    const given =
      request.method === "POST" ? await this.#form(request, found) : new Form(asked.url.searchParams);
    if (given instanceof Response) return given;
    const typed = given.text("user_code");
    if (!found)
      return redirected(
        signIn(typed === undefined ? "/device" : `/device?user_code=${encodeURIComponent(typed)}`),
      );
    if (typed === undefined) return codePage();
    const { session, binding } = found;
    const names = [session.person, asked.address];
    if (names.some((name) => this.#wrong.isOver(name)))
      return faultPage("Too many wrong codes. Wait a minute.", 429);
    const device = await server.devices.find(typed);
    if (!device) {
      for (const name of names) this.#wrong.note(name);
      return codePage("There is no device with this code, or its ten minutes are over.");
    }
    const { userCode } = device;
    const token = server.mac.of("device form", `${binding} ${userCode}`);
    if (request.method !== "POST") return devicePage(device, session.name, token, now());
    if (!server.mac.isOf("device form", `${binding} ${userCode}`, given.text("token") ?? ""))
      return faultPage("This form is not of your session. Open the page again.", 403);
    return this.#decided(given.text("decision") === "allow", userCode, device.client, session, asked);
  }

  async #decided(
    isAllowed: boolean,
    userCode: string,
    client: string,
    session: Session,
    { address }: AskedPage,
  ): Promise<Response> {
    const { server, note } = this.#options;
    const { person, provider } = session;
    if (isAllowed && !server.mayUse(session)) return faultPage(NO_MODELS, 403);
    const isDone = await server.devices.decide(userCode, isAllowed ? { person, provider } : undefined);
    if (!isDone) return codePage("The ten minutes of this code are over.");
    await note(
      { actor: person, address },
      isAllowed ? "device approved" : "device denied",
      `people/${person}`,
      { client },
    );
    return donePage(isAllowed);
  }

  /** The form of a page of weir's own. @returns an answer for one of another site */
  async #form(request: Request, found: SignedInBrowser | undefined): Promise<Form | Response> {
    const { server } = this.#options;
    if (request.headers.get("origin") !== new URL(server.url).origin)
      return faultPage("This form is of another site.", 403);
    if (!found) return faultPage("You are not signed in any more. Open the page again.", 403);
    try {
      return await formOf(request);
    } catch (thrown) {
      if (thrown instanceof OAuthError) return faultPage(thrown.message, thrown.status);
      throw thrown;
    }
  }

  async #authorize(request: Request, asked: AskedPage): Promise<Response> {
    const { server, settings, who, signIn } = this.#options;
    if (!settings.registers && !settings.readsDocuments)
      return faultPage("Programs cannot sign in here by this way.", 404);
    const found = await who(request, asked);
    const isAnswer = request.method === "POST";
    const given = isAnswer ? await this.#form(request, found) : new Form(asked.url.searchParams);
    if (given instanceof Response) return given;
    const written = isAnswer ? (given.text("request") ?? "") : asked.url.search;
    let asking: AuthorizationRequest;
    try {
      const read = await this.#read(new Form(new URLSearchParams(written)));
      if (read instanceof Response) return read;
      asking = read;
    } catch (thrown) {
      // Without a program and an address of it there is nowhere to send an error to.
      if (thrown instanceof OAuthError) return faultPage(thrown.message, thrown.status);
      throw thrown;
    }
    if (!found) return redirected(signIn(`/oauth/authorize${asked.url.search}`));
    const { session, binding } = found;
    const { program, redirect, scope } = asking;
    const refused = (code: string, sentence: string) =>
      this.#back(asking, { error: code, error_description: sentence });
    if (!server.mayUse(session)) return refused("access_denied", NO_MODELS);
    if (isAnswer) {
      if (!server.mac.isOf("consent form", `${binding} ${written}`, given.text("token") ?? ""))
        return faultPage("This form is not of your session. Open the page again.", 403);
      if (given.text("decision") !== "allow") return refused("access_denied", "The person has refused.");
      await server.codes.consent(session.person, program.id, scope);
      return this.#grant(asking, session, asked);
    }
    if (await server.codes.hasConsent(session.person, program.id, scope))
      return this.#grant(asking, session, asked);
    const token = server.mac.of("consent form", `${binding} ${written}`);
    return consentPage(program, scope, new URL(redirect), session.name, { request: written, token });
  }

  /** @returns an answer that tells the program what is wrong @throws OAuthError while the program or its address is */
  async #read(given: Form): Promise<AuthorizationRequest | Response> {
    const { server } = this.#options;
    const program = await server.programs.find(given.expect("client_id"));
    const redirect = given.expect("redirect_uri");
    if (!hasRedirect(program, redirect))
      throw new OAuthError("invalid_request", "The redirect_uri is none of the program's.");
    const state = given.all("state")[0];
    const back = { program, redirect, state };
    try {
      if (given.text("response_type") !== "code")
        throw new OAuthError("unsupported_response_type", "The response_type must be code.");
      const challenge = given.text("code_challenge") ?? "";
      if (!/^[\w-]{43}$/.test(challenge) || given.text("code_challenge_method") !== "S256")
        throw new OAuthError("invalid_request", "The request needs a code_challenge with the method S256.");
      const audience = server.audienceOf(given.all("resource"));
      const usual = audience === server.url ? "models" : "tools";
      return { ...back, challenge, scope: grantedScope(given.text("scope"), usual), audience };
    } catch (thrown) {
      if (!(thrown instanceof OAuthError)) throw thrown;
      return this.#back(back, { error: thrown.code, error_description: thrown.message });
    }
  }

  async #grant(
    { program, redirect, challenge, scope, audience, state }: AuthorizationRequest,
    { person, provider }: Session,
    { address }: AskedPage,
  ): Promise<Response> {
    const { server, note } = this.#options;
    const client = program.id;
    const code = await server.codes.make({ client, redirect, challenge, person, provider, scope, audience });
    await note({ actor: person, address }, "program approved", `people/${person}`, { client });
    return this.#back({ redirect, state }, { code });
  }

  /** Sends the browser back to the program. `iss`: RFC 9207. */
  #back(
    { redirect, state }: Pick<AuthorizationRequest, "redirect" | "state">,
    more: Record<string, string>,
  ): Response {
    const location = new URL(redirect);
    const all = { ...more, ...(state !== undefined && { state }), iss: this.#options.server.url };
    for (const [name, value] of Object.entries(all)) location.searchParams.set(name, value);
    return redirected(location.href);
  }
}

const NO_MODELS = "No group of yours may use models at this gateway; ask its operator.";

function redirected(location: string): Response {
  return new Response(null, { status: 303, headers: { ...HEADERS, location } });
}
