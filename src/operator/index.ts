/** The types of the operator's API for its clients: shapes, and operations by method and path. Importing them loads nothing. */
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type * as books from "./books.ts";
import type * as budgets from "./budgets.ts";
import type * as cache from "./cache.ts";
import type * as calls from "./calls.ts";
import type * as config from "./config.ts";
import type * as gateway from "./gateway.ts";
import type * as keys from "./keys.ts";
import type * as live from "./live.ts";
import type * as money from "./money.ts";
import type * as names from "./names.ts";
import type * as overview from "./overview.ts";
import type * as providers from "./providers.ts";
import type * as rates from "./rates.ts";
import type * as reports from "./reports.ts";
import type * as routing from "./routing.ts";
import type * as session from "./session.ts";
import type * as storedModels from "./stored-models.ts";
import type { AnswerOf, Contract, Frozen, ParamsOf } from "./contract.ts";

export type * from "./books.ts";
export type * from "./budgets.ts";
export type * from "./cache.ts";
export type * from "./calls.ts";
export type * from "./config.ts";
export type { AnswerOf, Contract, Frozen } from "./contract.ts";
export type * from "./keys.ts";
export type * from "./live.ts";
export type * from "./money.ts";
export type * from "./names.ts";
export type * from "./overview.ts";
export type * from "./providers.ts";
export type * from "./rates.ts";
export type * from "./reports.ts";
export type * from "./routing.ts";
export type * from "./session.ts";
export type * from "./stored-models.ts";
export type * from "./talk.ts";

type ContractsOf<Module> = Extract<Module[keyof Module], Contract>;

type Contracts =
  | ContractsOf<typeof books>
  | ContractsOf<typeof budgets>
  | ContractsOf<typeof cache>
  | ContractsOf<typeof calls>
  | ContractsOf<typeof config>
  | ContractsOf<typeof gateway>
  | ContractsOf<typeof keys>
  | ContractsOf<typeof live>
  | ContractsOf<typeof money>
  | ContractsOf<typeof names>
  | ContractsOf<typeof overview>
  | ContractsOf<typeof providers>
  | ContractsOf<typeof rates>
  | ContractsOf<typeof reports>
  | ContractsOf<typeof routing>
  | ContractsOf<typeof session>
  | ContractsOf<typeof storedModels>;

/** The path of a contract below `/admin/v1`, with its parameters: `/calls/{id}`. */
type Below<Path extends string> = Path extends `/admin/v1${infer Rest}` ? Rest : never;

/** The operations of the API by method and path below `/admin/v1`: `GET /calls/{id}`. */
export type Operations = {
  [Said in Contracts as `${Said["method"]} ${Below<Said["path"]>}`]: Said;
};

/** The content of a request: parameters of the path, what it wants of the query, and the body without its defaults. */
export type Asking<Said extends Contract> = ([keyof ParamsOf<Said["path"]>] extends [never]
  ? { params?: never }
  : { params: ParamsOf<Said["path"]> }) &
  (Said extends { query: infer Schema extends TObject }
    ? { query?: Partial<Static<Schema>> }
    : { query?: never }) &
  (Said extends { body: infer Schema extends TSchema }
    ? Said extends { bodyOptional: true }
      ? { body?: Partial<Static<Schema>> }
      : { body: Frozen<Static<Schema>> }
    : { body?: never });

/** The answer to an operation, as its client reads it. */
export type Answers = { [Name in keyof Operations]: AnswerOf<Operations[Name]> };

/** The path of an operation below `/admin/v1` as a client fills it in, with its query: `/calls/req_1?limit=5`. */
export type FilledIn<Said extends Contract> =
  Filled<Below<Said["path"]>> extends infer Path extends string
    ? Said extends { query: TObject }
      ? Path | `${Path}${string}`
      : Path
    : never;

type Filled<Path extends string> = Path extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${string}${Filled<After>}`
  : Path;

/** The body of an answer that is no success. */
export interface ApiError {
  error: { code: string; message: string; path?: string };
}
