/** The types of the admin API's requests and answers, for its clients. Only types: importing them loads nothing. */
export type * from "./books.ts";
export type * from "./budgets.ts";
export type * from "./cache.ts";
export type * from "./calls.ts";
export type * from "./captures.ts";
export type * from "./config.ts";
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

/** The body of an answer that is no success. */
export interface ApiError {
  error: { code: string; message: string; path?: string };
}
