/** The words of guards that manifest, section and code share. */

/** The values that a guard finds by their form, as the option `find` names them; first the numbers of persons in some states. */
export const NATIONAL_IDS = [
  "ssn-us",
  "nino-uk",
  "tax-de",
  "insee-fr",
  "cpf-br",
  "aadhaar-in",
  "pesel-pl",
  "dni-es",
  "sin-ca",
  "codice-fiscale-it",
] as const;
export type NationalId = (typeof NATIONAL_IDS)[number];
export const BUILT_IN = [
  ...(["email", "phone", "card", "iban"] as const),
  ...NATIONAL_IDS,
  ...(["ip", "mac", "url-credentials", "secrets", "invisible"] as const),
] as const;
export type BuiltIn = (typeof BUILT_IN)[number];

/** What a guard does with a value that it finds. */
export const ACTIONS = ["block", "replace", "mask", "flag"] as const;
/** `route`: an object with the model. */
export type Action = (typeof ACTIONS)[number] | "route";

/** Where a guard looks: whole requests, whole answers, of requests the results of tools alone, tools that weir runs. */
export const PLACES = ["input", "output", "tool-results", "tools"] as const;
export type GuardPlace = (typeof PLACES)[number];

/** Which texts a guard looks at. A value that it replaces goes everywhere. */
export const KINDS = ["text", "reasoning", "tools", "declarations", "documents", "names"] as const;
export type Kind = (typeof KINDS)[number];

/** When a guard that asks judges a request: before the provider gets it, or while it works. */
export const REQUEST_MODES = ["before", "beside"] as const;

/**
 * When a guard judges an answer: piece by piece as it streams, as a whole before the client gets any of it, or while the client
 * gets it.
 */
export const ANSWER_MODES = ["window", "hold", "after"] as const;
export type AnswerMode = (typeof ANSWER_MODES)[number];

export const MODES = [...REQUEST_MODES, ...ANSWER_MODES] as const;
export type Mode = (typeof MODES)[number];

/** Which texts are untrusted, for the rule that holds tools back. */
export const SOURCES = ["tool-results", "documents"] as const;
export type Source = (typeof SOURCES)[number];

/** What happens when a model calls such a tool. */
export const FLOWS = ["approve", "block"] as const;

/** How a client learns that a guard blocks: as an error, or as an answer in which the model refuses. */
export const BLOCKS = ["error", "refusal"] as const;
export type BlockedAs = (typeof BLOCKS)[number];

/** Texts without a kind that a guard can read: content that weir does not read. */
export const UNINSPECTED = ["allow", "block"] as const;

/** What happens to a call while what a guard asks gives no verdict. */
export const ON_ERROR = ["block", "pass"] as const;

/** What a guard says of one phase of a call, the gravest one last. `not-inspected`: it has read nothing. */
export const VERDICTS = [
  "not-inspected",
  "passed",
  "flagged",
  "masked",
  "replaced",
  "routed",
  "unavailable",
  "blocked",
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The parts of a call: what the client sends, and what it gets. */
export const PHASES = ["input", "output"] as const;
export type Phase = (typeof PHASES)[number];

/** Forms of webhooks. */
export const FORMS = ["weir", "litellm", "portkey", "agentgateway"] as const;
