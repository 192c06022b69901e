/** The admin API of a gateway, as the commands use it. */
import { isObject, parseJson } from "../../core/json.ts";
import type { Answers, Asking, Operations } from "../../operator/index.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** Values of the query; absent ones are left out, and a list is written with commas. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

interface Request {
  params?: Readonly<Record<string, string>>;
  query?: Query;
  body?: unknown;
}

/** The admin API of a gateway or of a store. */
export abstract class AdminApi {
  /** Port of the gateway for clients, if it is known. */
  readonly port?: number;
  abstract close(): Promise<void>;

  /** @param path below `/admin/v1` @returns the body of the answer @throws Error with one sentence */
  abstract send<Answer>(method: Method, path: string, options?: Omit<Request, "params">): Promise<Answer>;

  /**
   * Makes a request that the contract of an operation types.
   * @param operation method and path below `/admin/v1`: `GET /calls/{id}` @throws Error with one sentence
   */
  ask<Name extends keyof Operations>(
    operation: Name,
    ...[asking]: Asked<Operations[Name]>
  ): Promise<Answers[Name]> {
    const [method, path] = operation.split(" ") as [Method, string];
    const { params = {}, query, body }: Request = asking ?? {};
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name]!));
    return this.send(method, filled, { query, body });
  }
}

type EntryOf<List> = List extends readonly (infer Entry)[] ? Entry : never;

/** A request that needs nothing may be left out. */
type Asked<Said extends Operations[keyof Operations]> =
  {} extends Asking<Said> ? [asking?: Asking<Said>] : [asking: Asking<Said>];

export class HttpApi extends AdminApi {
  override readonly port: number | undefined;
  readonly #url: string;
  readonly #credential: string;

  constructor(url: string, credential: string, port?: number) {
    super();
    this.#url = url;
    this.#credential = credential;
    this.port = port;
  }

  async send<Answer>(
    method: Method,
    path: string,
    { query = {}, body }: { query?: Query; body?: unknown } = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.#url}/admin/v1${path}${queryOf(query)}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#credential}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        // A write that the connection loses is not repeated by the runtime, and the gateway applies it once.
        ...(method === "POST" && { "idempotency-key": crypto.randomUUID() }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: "error",
    }).catch(() => {
      throw new Error(`no admin API answers at ${this.#url}`);
    });
    return readAnswer(response, this.#url);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** @param at names the gateway in the error */
export async function readAnswer<Answer>(response: Response, at: string): Promise<Answer> {
  const text = await response.text();
  const body = parseJson(text);
  if (response.ok) return (body ?? text) as Answer;
  const error = isObject(body) ? body["error"] : undefined;
  if (isObject(error) && typeof error["message"] === "string") throw new Error(sentenceOf(error["message"]));
  throw new Error(`${at} answered with status ${response.status}; is it the admin API of weir?`);
}

/** Errors of the command line end without a full stop. */
function sentenceOf(message: string): string {
  return message.replace(/\.$/, "");
}

export function queryOf(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}

/** All pages of a list. @param member that of the answer that holds the entries */
export async function listAll<
  Name extends Extract<keyof Operations, `GET ${string}`>,
  Member extends keyof Answers[Name],
>(
  api: AdminApi,
  operation: Name,
  member: Member,
  query?: Asking<Operations[Name]>["query"],
): Promise<EntryOf<Answers[Name][Member]>[]> {
  const entries: EntryOf<Answers[Name][Member]>[] = [];
  const path = operation.slice("GET ".length);
  for (let after: string | undefined; ;) {
    const page = await api.send<Answers[Name] & { next?: string }>("GET", path, {
      query: { ...query, limit: 500, after },
    });
    entries.push(...(page[member] as EntryOf<Answers[Name][Member]>[]));
    if (page.next === undefined) return entries;
    after = page.next;
  }
}
