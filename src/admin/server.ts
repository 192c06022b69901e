/** Answers the requests of the admin API: guard, credential, access, validation, operation. */
import { refusalOf } from "./access.ts";
import type { AdminBooks } from "./books.ts";
import { anonymous, type Caller, identify, type Known, RUN_FILE } from "./callers.ts";
import type { Needs } from "../operator/contract.ts";
import { AdminError } from "../operator/errors.ts";
import { isLoopback } from "../core/host-names.ts";
import { guard, guardHost, type OwnHosts } from "./guard.ts";
import { type WriteAnswer, IdempotentAnswers } from "./idempotency.ts";
import { digestOf, isMade } from "../ledger/keys/form.ts";
import { expectConsole, readCookies } from "./session/cookie.ts";
import { CONSOLE, Sessions } from "./session/sessions.ts";
import type { AdminOperation, AdminRequest, Reply } from "./operation.ts";
import type { OwnPages, OwnSession } from "./own-pages.ts";
import { readBody, readQuery } from "./read-request.ts";
import { type Found, Router } from "./router.ts";
import { WrongTries } from "./wrong-tries.ts";
import { refusalPage, wantsPage } from "./refusal-page.ts";

export interface AdminServerOptions {
  books: AdminBooks;
  operations: readonly AdminOperation[];
  /** The names of the listener; called for each request, because a free port is known late. */
  own(): OwnHosts;
  /** Default: none. */
  sessions?: Sessions;
  /** Pages and sessions of features. Default: none. */
  pages?: readonly OwnPages[];
  /** SHA-256 of the credential in the run file. It gives access on loopback. */
  runDigest?: string;
  /** Logs a fault of weir. */
  report(message: string, cause: unknown): void;
  now?(): number;
}

/** Callers without a key do not learn which paths exist. */
const UNKNOWN_PATH: Needs = { role: "read", on: "path" };
const NO_STORE = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
const JSON_TYPE = "application/json; charset=utf-8";

export class AdminServer {
  readonly #options: AdminServerOptions;
  readonly #router: Router;
  readonly #tries = new WrongTries();
  readonly #sessions: Sessions;
  readonly #answers = new IdempotentAnswers();
  /** Writes run one after another: each checks names and versions before it saves. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: AdminServerOptions) {
    this.#options = options;
    this.#router = new Router(options.operations);
    this.#sessions = options.sessions ?? new Sessions();
  }

  /** @param address address of the client */
  async handle(request: Request, address: string): Promise<Response> {
    try {
      return await this.#answer(request, address);
    } catch (cause) {
      if (cause instanceof AdminError)
        return wantsPage(request) ? refusalPage(cause, request) : errorOf(cause);
      this.#options.report("the admin API failed", cause);
      return errorOf(new AdminError(500, "internal_error", "weir failed; its log has the cause."));
    }
  }

  async #answer(request: Request, address: string): Promise<Response> {
    // Before the URL is read: with an odd Host it cannot be parsed.
    guardHost(request, this.#options.own());
    const { base = "" } = this.#options.own();
    const url = new URL(request.url);
    // A proxy may have left it.
    if (base !== "" && url.pathname.startsWith(`${base}/`)) url.pathname = url.pathname.slice(base.length);
    const { pathname, searchParams } = url;
    const { books, pages = [] } = this.#options;
    for (const own of pages) {
      const page = own.page?.(request, { url, books, address });
      if (page) return page;
    }
    if (pathname === "/console" || pathname.startsWith("/console/")) {
      // Links from other pages may open the console: its files are the same for everybody.
      const { consoleAnswer } = await import("./console/files.ts");
      return consoleAnswer(request, pathname, base);
    }
    guard(request, this.#options.own());
    const found = this.#router.find(request.method === "HEAD" ? "GET" : request.method, pathname);
    const session = await this.#ownSession(request, address);
    const fault = session ? undefined : await this.#recall(request);
    const caller = this.#authorize(request, address, found, session, fault);
    if (found === undefined) throw new AdminError(404, "not_found", "There is nothing at this path.");
    if ("allow" in found)
      throw new AdminError(405, "method_not_allowed", `This path accepts ${found.allow}.`, {
        headers: { allow: found.allow },
      });
    const { operation, params } = found;
    const { query, body, bodyOptional = false } = operation;
    const given: AdminRequest = {
      books,
      caller,
      params,
      query: query ? readQuery(query, searchParams) : readNoQuery(searchParams),
      body: body ? await readBody(body, request, bodyOptional) : undefined,
      headers: request.headers,
      now: this.#now(),
      own: this.#options.own(),
      sessions: this.#sessions,
      tries: this.#tries,
      expectKeys: () => this.#expectKeys(),
      ...(session && { session }),
      signal: request.signal,
      isAllowed: () => {
        if (session) return session.isCurrent();
        // What another node has ended is known at the next question.
        void this.#recall(request).catch(() => {});
        return "caller" in (this.#present(request, address) ?? {});
      },
    };
    if (operation.needs.role !== "admin" || operation.alone)
      return respond(operation, await handled(operation, given));
    return answerOf(await this.#write(operation, given, pathname));
  }

  #write(operation: AdminOperation, given: AdminRequest, path: string): Promise<WriteAnswer> {
    const write = async (): Promise<WriteAnswer> => {
      const earlier = this.#writing;
      const done = Promise.withResolvers<void>();
      this.#writing = done.promise;
      await earlier;
      try {
        return packed(operation, await handled(operation, { ...given, now: this.#now() }));
      } finally {
        done.resolve();
      }
    };
    const key = given.headers.get("idempotency-key");
    if (key === null) return write();
    if (key.length > 255)
      throw new AdminError(400, "invalid_request", "The Idempotency-Key is too long.", {
        path: "header idempotency-key",
      });
    const { method } = operation;
    const request = digestOf(JSON.stringify([method, path, given.query, given.body]));
    return this.#answers.once(`${given.caller.actor} ${key}`, request, given.now, write);
  }

  /** @throws AdminError 401, 403 or 429 */
  #authorize(
    request: Request,
    address: string,
    found: Found,
    session: OwnSession | undefined,
    fault: AdminError | undefined,
  ): Caller {
    const needs = found && "operation" in found ? found.operation.needs : UNKNOWN_PATH;
    const visitor = anonymous(address);
    // A wrong key does not count where none is needed.
    if (needs.role === "none") return visitor;
    const operation = found && "operation" in found ? found.operation : { id: "", needs };
    const known = session ? { caller: session.callerOf(operation) } : this.#present(request, address);
    const isLocal = isLoopback(this.#options.own().host);
    if (known === undefined && refusalOf(needs, visitor, isLocal) === undefined) return visitor;
    if (known === undefined && fault) throw fault;
    const caller = this.#expectCaller(known, address, request);
    const { actor } = caller;
    // Programs that collect figures cannot sign in.
    if (!session && actor !== RUN_FILE && actor !== CONSOLE && needs.role !== "scraper") this.#expectKeys();
    const refusal = refusalOf(needs, caller, isLocal);
    if (refusal !== undefined)
      throw new AdminError(403, "forbidden", session ? "None of your roles permits this." : refusal);
    if (isBySession(request) && !isReading(request)) expectConsole(request.headers);
    return caller;
  }

  /** @throws AdminError 403 where people sign in alone */
  #expectKeys(): void {
    const { books, pages = [] } = this.#options;
    if (pages.some((own) => own.refusesKeys?.(books)))
      throw new AdminError(403, "forbidden", "Keys are off here: sign in at /auth/.");
  }

  /** The session of a feature; a key in the request wins over it. */
  async #ownSession(request: Request, address: string): Promise<OwnSession | undefined> {
    if (!isBySession(request)) return undefined;
    for (const own of this.#options.pages ?? []) {
      const session = await own.session?.(request, this.#options.books, address);
      if (session) return session;
    }
    return undefined;
  }

  /** Reads the sessions of a request from the store. @returns why it cannot be known whether there is one */
  async #recall(request: Request): Promise<AdminError | undefined> {
    if (!isBySession(request)) return undefined;
    try {
      for (const { secret } of readCookies(request.headers, this.#options.own().port))
        await this.#sessions.recall(secret, this.#now());
    } catch (cause) {
      if (cause instanceof AdminError) return cause;
      throw cause;
    }
    return undefined;
  }

  /** Who has the key of a request, or the session of its cookie. @returns undefined if it has neither */
  #present(request: Request, address: string): Known | undefined {
    const { books, runDigest, own } = this.#options;
    const { host, port } = own();
    const now = this.#now();
    const policy = books.policy();
    const credential = bearerOf(request.headers);
    if (credential !== undefined)
      return identify(credential, policy, isLoopback(host) ? runDigest : undefined, address, now);
    return this.#sessions.pick(readCookies(request.headers, port), { address, policy, now });
  }

  /** @throws AdminError 401, 403 or 429 */
  #expectCaller(known: Known | undefined, address: string, request: Request): Caller {
    if (known === undefined) throw unauthorized("The request needs an admin key or a read key.");
    // Neither the credential of the run file nor a session is locked out: other programs of the machine share the address.
    if ("caller" in known && (known.caller.actor === RUN_FILE || isBySession(request))) return known.caller;
    const now = this.#now();
    // Nobody guesses a key of 256 random bits, and behind a proxy all clients share an address. A declared key can be shorter.
    if ("caller" in known && isMade(bearerOf(request.headers) ?? "")) return known.caller;
    this.#tries.expectFew(address, now);
    if ("caller" in known) return known.caller;
    if (known.refused === "call-key")
      throw new AdminError(403, "forbidden", "This key is for calls; the admin API needs an admin key.");
    // A session whose key was revoked is no try.
    if (!isBySession(request)) this.#tries.add(address, now);
    throw unauthorized(known.refused === "expired" ? "This key has expired." : "This key is not valid.");
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }
}

async function handled(operation: AdminOperation, given: AdminRequest): Promise<Reply> {
  const caller = await given.session?.callerFor?.(operation, given);
  return operation.handle(caller ? { ...given, caller } : given);
}

function unauthorized(message: string): AdminError {
  return new AdminError(401, "unauthorized", message, { headers: { "www-authenticate": "Bearer" } });
}

/** A key in a request wins over its cookie. */
function isBySession(request: Request): boolean {
  return bearerOf(request.headers) === undefined;
}

function isReading({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

function bearerOf(headers: Headers): string | undefined {
  const match = /^bearer[ \t]+(\S+)[ \t]*$/i.exec(headers.get("authorization") ?? "");
  return match?.[1];
}

/** @throws AdminError 400 */
function readNoQuery(search: URLSearchParams): Record<string, never> {
  const [name] = search.keys();
  if (name !== undefined) throw new AdminError(400, "invalid_request", "This operation has no parameters.");
  return {};
}

function respond(operation: AdminOperation, reply: Reply): Response {
  if ("relayed" in reply) return reply.relayed;
  if ("json" in reply) return answerOf(packed(operation, reply), reply.headers);
  return new Response(reply.text, { headers: { ...NO_STORE, "content-type": reply.type } });
}

function packed({ status = 200 }: AdminOperation, reply: Reply): WriteAnswer {
  if (!("json" in reply)) throw new Error("a write answers JSON");
  const { json, version } = reply;
  return { status, body: JSON.stringify(json), ...(version !== undefined && { version }) };
}

function answerOf(
  { status, body, version }: WriteAnswer,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(body, {
    status,
    headers: {
      ...NO_STORE,
      "content-type": JSON_TYPE,
      ...(version !== undefined && { etag: `"${version}"` }),
      ...headers,
    },
  });
}

function errorOf({ status, code, message, path, headers }: AdminError): Response {
  const error = { code, message, ...(path !== undefined && { path }) };
  return new Response(JSON.stringify({ error }), {
    status,
    headers: { ...NO_STORE, "content-type": JSON_TYPE, ...headers },
  });
}
