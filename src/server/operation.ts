/** An operation: a route with everything that clients may know of it. */
import type { TSchema } from "@sinclair/typebox";
import type { DocumentedError } from "../core/error.ts";
import type { ClientCodec, Format } from "../core/format.ts";
import type { JsonObject } from "../core/json.ts";

export type ClientFormat = Format & { client: ClientCodec };

export type Schema = TSchema | JsonObject;

/** A schema and its name among the components of the OpenAPI document. */
export interface NamedSchema {
  name: string;
  schema: Schema;
  /** Media type of the body. Default: `application/json`. */
  mediaType?: string;
}

export interface Operation {
  method: "GET" | "HEAD" | "POST" | "PATCH" | "DELETE";
  /**
   * `{id}` stands for one segment, `{+id}` for the rest of the path, slashes included (RFC 6570); only `:method` may follow
   * that.
   */
  path: string;
  /** Other paths of the operation, which the OpenAPI document does not list. */
  aliases?: readonly string[];
  /** `operationId` of the OpenAPI document. */
  id: string;
  summary: string;
  description?: string;
  /** `key`: clients need a gateway key, if weir has keys. */
  access: "anyone" | "key";
  /** Its name in the scope `endpoints` of keys; absent: every key may call it. Routes of calls know their own. */
  endpoint?: string;
  /** Lower-case names of the headers that may hold the key. Default: those of the keyring. */
  keyHeaders?: readonly string[];
  parameters?: readonly Parameter[];
  /** Schema of the body. weir itself reads and validates it; Elysia does not. */
  request?: NamedSchema;
  /** The body may be a form (`multipart/form-data`) with the same members. */
  takesForm?: boolean;
  /** Absent: an empty body. */
  answer?: NamedSchema;
  /** Data of one event of a streamed answer, errors excepted. */
  event?: NamedSchema;
  /** Data of the event that ends a stream, if it is not JSON. */
  terminator?: string;
  /** Statuses of the answer, and what they mean. Default: 200. */
  statuses?: Readonly<Record<number, string>>;
  /** The answer has the `x-weir-*` headers of a call. */
  isCall?: boolean;
  /** The formats that an error may have. */
  formats: readonly ClientFormat[];
  /** Besides those that come with `access` and `request`, and those of every operation. */
  errors: readonly DocumentedError[];
  handle(request: Request): Response | Promise<Response>;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description: string;
  schema: Schema;
}

/** `chat-completions` → `ChatCompletions`. Only letters and digits, as the names of components. */
export function pascalCase(id: string): string {
  return id
    .split(/[^A-Za-z0-9]+/)
    .map((word) => (word === "" ? "" : word[0]!.toUpperCase() + word.slice(1)))
    .join("");
}

/** The operation at each of its paths. */
export function pathsOf<Any extends Pick<Operation, "path" | "aliases">>(operation: Any): Any[] {
  const { aliases = [] } = operation;
  return [operation, ...aliases.map((path) => ({ ...operation, path }))];
}

/** The methods that each path accepts, as `allow` lists them. */
export class AllowedMethods {
  readonly #exact = new Map<string, string>();
  /** Paths with a parameter. */
  readonly #patterns = new Map<string, { pattern: RegExp; methods: string }>();

  constructor(operations: readonly Pick<Operation, "method" | "path" | "aliases">[]) {
    for (const { method, path } of operations.flatMap(pathsOf)) {
      const known = this.#exact.get(path) ?? this.#patterns.get(path)?.methods;
      const methods = known === undefined ? method : `${known}, ${method}`;
      if (path.includes("{")) this.#patterns.set(path, { pattern: patternOf(path), methods });
      else this.#exact.set(path, methods);
    }
  }

  /** Paths without a parameter. */
  get paths(): Iterable<string> {
    return this.#exact.keys();
  }

  /** `undefined` for a path without operations. */
  of(path: string): string | undefined {
    const exact = this.#exact.get(path);
    const matching = [...this.#patterns.values()].filter(({ pattern }) => pattern.test(path));
    const all = [...(exact === undefined ? [] : [exact]), ...matching.map(({ methods }) => methods)];
    return all.length === 0 ? undefined : [...new Set(all.flatMap((list) => list.split(", ")))].join(", ");
  }
}

/** Matches the paths of requests. @param path as {@link Operation.path} writes it */
export function patternOf(path: string): RegExp {
  const parts = path
    .split(/(\{\+?\w+\})/)
    .map((part) => (part.startsWith("{+") ? ".*" : part.startsWith("{") ? "[^/]+" : RegExp.escape(part)));
  return new RegExp(`^${parts.join("")}$`);
}
