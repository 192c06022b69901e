/** A contract of the operator's API: what an operation takes and answers, said once for all who compute, serve, publish and read it. */
import type { Static, TObject, TSchema } from "@sinclair/typebox";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** Who may use an operation. */
export interface Needs {
  /**
   * `none`: everyone; `scraper`: everyone if only this machine reaches the listener, otherwise like `read`; `read`: read keys and
   * admin keys; `admin`: admin keys.
   */
  readonly role: "none" | "scraper" | "read" | "admin";
  /**
   * `path`: a key on any path; it sees and changes what lies on its path and below. `gateway`: only keys on the path `/`, as the
   * operation concerns the whole gateway.
   */
  readonly on: "path" | "gateway";
}

/** A schema and its name among the components of the document. */
export interface NamedSchema<Schema extends TSchema = TSchema> {
  name: string;
  schema: Schema;
}

/** An answer that is no JSON, by its media type. */
export interface TextAnswer {
  text: string;
}

export interface Contract {
  method: Method;
  /** `{id}` stands for one segment. */
  path: string;
  /** `operationId` of the OpenAPI document. */
  id: string;
  summary: string;
  description?: string;
  needs: Needs;
  /** Not put in line with other writes, and not repeated by its `Idempotency-Key`: it changes nothing that others read. */
  alone?: boolean;
  query?: TObject;
  body?: TSchema;
  /** A request without a body means an empty object. */
  bodyOptional?: boolean;
  answer: NamedSchema | TextAnswer;
  /** The answer is CSV if the request accepts `text/csv`. */
  csv?: true;
  /** Status of success. Default 200. */
  status?: number;
  /** Codes of its own errors. */
  errors?: readonly string[];
}

/** Keeps the type of each member, so that the path names the parameters, and the schemas type the request and the answer. */
export const contract = <const Said extends Contract>(said: Said): Said => said;

/** A value that cannot be changed at any depth: an answer is written out, and may share its parts with what is kept. */
export type Frozen<Value> = Value extends readonly (infer Entry)[]
  ? readonly Frozen<Entry>[]
  : Value extends object
    ? { readonly [Member in keyof Value]: Frozen<Value[Member]> }
    : Value;

/** The parameters of a path by name. */
export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & ParamsOf<Rest>
  : Readonly<Record<never, string>>;

/** A checked query, with its defaults. */
export type QueryOf<Said extends Contract> = Said extends { query: infer Schema extends TObject }
  ? Static<Schema>
  : Readonly<Record<string, never>>;

/** A checked body, with its defaults. */
export type BodyOf<Said extends Contract> = Said extends { body: infer Schema extends TSchema }
  ? Static<Schema>
  : undefined;

/** The answer as a client reads it. */
export type AnswerOf<Said extends Contract> =
  Said["answer"] extends NamedSchema<infer Schema> ? Static<Schema> : string;
