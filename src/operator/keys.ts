/** Keys: their scopes and limits, and what creates and changes them. */
import {
  answer,
  CLOSED,
  LIMIT,
  list,
  mapOf,
  MODE,
  NAME,
  nano,
  PAGE,
  PATH,
  request,
  SETS,
  SUBJECT,
  time,
  UNITS,
  WARNINGS,
  WINDOW,
  words,
} from "./shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { MAX_NANO } from "../ledger/money.ts";
import { contract } from "./contract.ts";

/** What every build knows of scopes; the admin API adds the options of keys. */
const SCOPES = {
  models: Type.Optional(
    list(
      "Models, patterns or sets (`@cheap`): the name that clients write, the provider's, or `provider/model`.",
    ),
  ),
  providers: Type.Optional(list("Names of the providers that calls may go to.")),
  endpoints: Type.Optional(list("Ids of client formats, and `embeddings`, `count`, `models`, `explain`.")),
  addresses: Type.Optional(list("Addresses of clients in CIDR notation.")),
  maxTokens: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100_000_000, description: "Most output tokens of one call." }),
  ),
  maxCost: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_NANO,
      description: "Most that one call may cost. Nano-dollars.",
    }),
  ),
};
export const Scopes = request(SCOPES);
export type Scopes = Static<typeof Scopes>;

export const NewKey = request({
  name: NAME,
  kind: Type.Optional(words(["call", "admin", "read"], "Default `call`.")),
  path: Type.Optional(PATH),
  tags: Type.Optional(list("Tags, which budgets and reports can name.")),
  scopes: Type.Optional(Scopes),
  expiresAt: Type.Optional(time("The key is refused from then on.")),
  budget: Type.Optional(
    Type.Object(
      { limit: LIMIT, window: Type.Optional(WINDOW), mode: Type.Optional(MODE) },
      { ...CLOSED, description: "A budget of the same name on this key." },
    ),
  ),
  rates: Type.Optional(UNITS),
});
export type NewKey = Static<typeof NewKey>;

export const KeyChange = request({
  name: Type.Optional(NAME),
  path: Type.Optional(PATH),
  tags: Type.Optional(list("Replaces all tags.")),
  scopes: Type.Optional(Scopes),
  expiresAt: Type.Optional(Type.Union([time("The key is refused from then on."), Type.Null()])),
});
export type KeyChange = Static<typeof KeyChange>;

export const KeyImport = request({
  keys: Type.Array(
    request({
      name: NAME,
      sha256: Type.String({
        pattern: "^[0-9a-f]{64}$",
        "x-expects": "64 lower-case hexadecimal digits",
        description: "SHA-256 of the key.",
      }),
      path: Type.Optional(PATH),
      tags: Type.Optional(list("Tags.")),
      scopes: Type.Optional(Scopes),
      expiresAt: Type.Optional(time("The key is refused from then on.")),
    }),
    { minItems: 1, maxItems: 5_000 },
  ),
});
export type KeyImport = Static<typeof KeyImport>;

const OF_KEY = { id: Type.String(), name: Type.String(), on: SUBJECT };
const KEY_LIMITS = answer({
  spent: nano("What its calls have cost since `since`."),
  since: time(""),
  budgets: Type.Array(
    answer({
      ...OF_KEY,
      window: WINDOW,
      limit: LIMIT,
      mode: MODE,
      spent: nano("In the open window, with what is assumed."),
      left: nano("The limit without what is spent, assumed and held."),
      resetsAt: Type.Optional(time("")),
    }),
  ),
  rates: Type.Array(
    answer({
      ...OF_KEY,
      limits: mapOf(Type.Integer(), "By unit."),
      left: mapOf(Type.Number(), "What may be used at once, by unit."),
    }),
  ),
});

export const Key = answer({
  id: Type.String(),
  name: Type.String(),
  kind: words(["call", "admin", "read"]),
  path: Type.String(),
  tags: Type.Array(Type.String()),
  scopes: Type.Object(SCOPES),
  restrictions: Type.Optional(
    Type.Array(Type.String(), {
      description: "Its restrictions besides the models, in words: `at most $0.50 a call`.",
    }),
  ),
  state: words(["active", "expired", "revoked"]),
  source: words(["config", "store"], "Keys of the configuration cannot be changed here."),
  hint: Type.Optional(Type.String({ description: "Beginning and end of the key." })),
  createdAt: Type.Optional(time("")),
  createdBy: Type.Optional(Type.String()),
  person: Type.Optional(
    Type.String({ description: "Whose it is: its calls are refused while this person may not call." }),
  ),
  lastUsedAt: Type.Optional(time("")),
  expiresAt: Type.Optional(time("")),
  revokedAt: Type.Optional(time("")),
  /** End of the grace period of a rotation. */
  rotatingUntil: Type.Optional(time("The key before the last rotation works until then.")),
  sets: SETS,
  warnings: WARNINGS,
  limits: Type.Optional(KEY_LIMITS),
  version: Type.String({ description: "For `If-Match`." }),
});
export type Key = Static<typeof Key>;

export const CreatedKey = answer({
  key: Key,
  secret: Type.String({ description: "The key itself. weir answers it once and stores only its digest." }),
  closed: Type.Boolean({ description: "Every call needs a key from now on." }),
  budget: Type.Optional(
    answer(
      { id: Type.String(), name: Type.String(), limit: LIMIT, window: WINDOW, mode: MODE },
      { description: "The budget that was created with it." },
    ),
  ),
});
export type CreatedKey = Static<typeof CreatedKey>;

/** Grace period of a rotation: the default and the longest. Milliseconds. */
const GRACE_MS = 86_400_000;
const MAX_GRACE_MS = 90 * GRACE_MS;

const LIMITS = Type.Boolean({
  default: false,
  description: "Also the budgets and rate limits that count all its calls, and what it has spent in 30 days.",
});

const ONE = { name: "Key", schema: Key };
const CREATED = { name: "CreatedKey", schema: CreatedKey };

/** An option of keys as a field of a form. */
const KeyField = answer({
  name: Type.String({ description: "Member of `scopes`." }),
  label: Type.String(),
  type: Type.String({ description: "Type of its value in JSON Schema: `boolean`, `integer`, `array`." }),
});
export type KeyField = Static<typeof KeyField>;

const KeyPage = answer({
  keys: Type.Array(Key),
  next: Type.Optional(Type.String({ description: "Cursor for `after`." })),
  options: Type.Optional(
    Type.Array(KeyField, { description: "Members of `scopes` besides those that every build has." }),
  ),
});

export const listKeys = contract({
  method: "GET",
  path: "/admin/v1/keys",
  id: "listKeys",
  summary: "Keys of the configuration and of the store",
  needs: { role: "read", on: "path" },
  query: request({
    ...PAGE,
    path: Type.Optional(PATH),
    revoked: Type.Boolean({ default: false, description: "Revoked keys too." }),
    limits: LIMITS,
  }),
  answer: { name: "Keys", schema: KeyPage },
});

export const createKey = contract({
  method: "POST",
  path: "/admin/v1/keys",
  id: "createKey",
  summary: "Creates a key; no other answer contains its text",
  description:
    "With `budget` or `rates` it also creates a budget or a rate limit of the same name on the key. Without `budget` the key gets that of `keyBudgets` of the configuration for its path, if there is one.",
  needs: { role: "admin", on: "path" },
  body: NewKey,
  answer: CREATED,
  status: 201,
  errors: ["conflict", "not_permitted", "keys_in_file"],
});

export const getKey = contract({
  method: "GET",
  path: "/admin/v1/keys/{id}",
  id: "getKey",
  summary: "One key, by id or name",
  needs: { role: "read", on: "path" },
  query: request({ limits: LIMITS }),
  answer: ONE,
  errors: ["not_found"],
});

export const changeKey = contract({
  method: "PATCH",
  path: "/admin/v1/keys/{id}",
  id: "changeKey",
  summary: "Changes name, path, tags, scopes or expiry of a key",
  needs: { role: "admin", on: "path" },
  body: KeyChange,
  answer: ONE,
  errors: ["not_found", "declared", "conflict", "not_permitted"],
});

export const revokeKey = contract({
  method: "DELETE",
  path: "/admin/v1/keys/{id}",
  id: "revokeKey",
  summary: "Revokes a key at once; its rows stay",
  needs: { role: "admin", on: "path" },
  query: request({
    cut: Type.Boolean({ default: false, description: "Also ends the streams that run with it." }),
  }),
  answer: ONE,
  errors: ["not_found", "declared", "not_permitted"],
});

export const rotateKey = contract({
  method: "POST",
  path: "/admin/v1/keys/{id}/rotate",
  id: "rotateKey",
  summary: "Gives a key a new text; the old one works until the grace period ends",
  needs: { role: "admin", on: "path" },
  body: request({
    graceMs: Type.Integer({
      minimum: 0,
      maximum: MAX_GRACE_MS,
      default: GRACE_MS,
      description: "Milliseconds. Default: one day.",
    }),
  }),
  bodyOptional: true,
  answer: CREATED,
  errors: ["not_found", "declared", "not_permitted", "conflict"],
});

export const openGateway = contract({
  method: "POST",
  path: "/admin/v1/access/open",
  id: "openGateway",
  summary: "Lets calls without a key in again, until the next key is created",
  description: "Refused while a key for calls is valid. Listeners that other machines can reach stay closed.",
  needs: { role: "admin", on: "gateway" },
  answer: { name: "Opened", schema: Type.Object({ opened: Type.Boolean() }) },
  errors: ["conflict"],
});

export const importKeys = contract({
  method: "POST",
  path: "/admin/v1/import/keys",
  id: "importKeys",
  summary: "Imports keys of which only the digests are known",
  description: "Keys whose digest exists already are skipped. A name that exists refuses the whole import.",
  needs: { role: "admin", on: "path" },
  body: KeyImport,
  answer: {
    name: "ImportedKeys",
    schema: Type.Object({ keys: Type.Array(Key), skipped: Type.Array(Type.String()) }),
  },
  errors: ["conflict", "not_permitted", "keys_in_file"],
});
