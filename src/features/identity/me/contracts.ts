/** What a person sees and does of its own, in the operator's API. */
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "../../../operator/contract.ts";
import { answer, mapOf, nano, request, time } from "../../../operator/shapes.ts";

const OwnKey = answer({
  id: Type.String(),
  name: Type.String(),
  path: Type.String(),
  hint: Type.Optional(Type.String({ description: "Beginning and end of the key." })),
  expiresAt: Type.Optional(time("")),
  calls: Type.Integer({ description: "Since `from`." }),
  cost: nano("Since `from`."),
});

const OF_LIMIT = {
  name: Type.String(),
  why: Type.String({ description: "Which calls it counts: `all calls at /eng and below`." }),
};

export const Me = answer(
  {
    person: Type.String(),
    name: Type.String(),
    path: Type.String({ description: "Where its calls are booked." }),
    roles: Type.Array(answer({ role: Type.String(), on: Type.String(), source: Type.String() })),
    until: time("End of the session."),
    from: time("Beginning of the month."),
    calls: Type.Integer({ description: "By key and by token, as far as the rows of calls are kept." }),
    cost: nano("The same."),
    keys: Type.Array(OwnKey),
    mayHaveKeys: Type.Integer({ description: "Most valid keys; 0: it may make none." }),
    budgets: Type.Array(
      answer({
        ...OF_LIMIT,
        window: Type.String(),
        limit: nano(""),
        left: nano(""),
        resetsAt: Type.Optional(time("")),
      }),
    ),
    rates: Type.Array(
      answer({
        ...OF_LIMIT,
        limit: mapOf(Type.Integer(), "By unit."),
        left: mapOf(Type.Number(), "What may be used at once, by unit."),
      }),
    ),
    models: Type.Array(Type.String()),
    lastCalls: Type.Array(
      answer({
        at: time(""),
        model: Type.String(),
        status: Type.Integer(),
        cost: nano(""),
        key: Type.Optional(Type.String({ description: "Name of its key; absent: with a token." })),
      }),
    ),
    changes: Type.Array(answer({ at: time(""), action: Type.String(), subject: Type.String() }), {
      description: "The newest entries of the audit log that it caused, or that are about it.",
    }),
    sessions: Type.Array(
      answer({
        id: Type.String(),
        provider: Type.String(),
        createdAt: time(""),
        until: time(""),
        address: Type.String(),
        isOwn: Type.Boolean({ description: "It is the one of this request." }),
      }),
    ),
  },
  { description: "A person about itself." },
);
export type Me = Static<typeof Me>;

const MadeKey = answer({
  id: Type.String(),
  name: Type.String(),
  path: Type.String(),
  expiresAt: Type.Optional(time("")),
  secret: Type.String({ description: "The key itself. weir answers it once and stores only its digest." }),
});

const DAY_MS = 86_400_000;
const ONLY = "For people who are signed in: keys have no person.";

export const getMe = contract({
  method: "GET",
  path: "/admin/v1/me",
  id: "getMe",
  summary: "The person who asks: keys, use, what is left of each budget, models, sessions",
  description: ONLY,
  needs: { role: "read", on: "path" },
  answer: { name: "Me", schema: Me },
});

export const createMyKey = contract({
  method: "POST",
  path: "/admin/v1/me/keys",
  id: "createMyKey",
  summary: "Makes a key of the person, within what the config permits at its path",
  description: ONLY,
  needs: { role: "admin", on: "path" },
  body: request({
    name: Type.String({ minLength: 1, maxLength: 57, description: "weir appends characters." }),
  }),
  answer: { name: "MyKey", schema: MadeKey },
  status: 201,
  errors: ["not_permitted", "conflict", "keys_in_file"],
});

export const rotateMyKey = contract({
  method: "POST",
  path: "/admin/v1/me/keys/{id}/rotate",
  id: "rotateMyKey",
  summary: "Gives a key of the person a new text",
  description: ONLY,
  needs: { role: "admin", on: "path" },
  body: request({
    graceMs: Type.Integer({
      minimum: 0,
      maximum: 7 * DAY_MS,
      default: DAY_MS,
      description: "How long the text before works. Milliseconds. Default: one day.",
    }),
  }),
  bodyOptional: true,
  answer: { name: "MyKey", schema: MadeKey },
  errors: ["not_found", "not_permitted", "conflict", "keys_in_file"],
});

export const deleteMyKey = contract({
  method: "DELETE",
  path: "/admin/v1/me/keys/{id}",
  id: "deleteMyKey",
  summary: "Revokes a key of the person; its running streams end",
  description: ONLY,
  needs: { role: "admin", on: "path" },
  answer: { name: "MyKeyDeleted", schema: answer({ id: Type.String() }) },
  errors: ["not_found"],
});

export const endMySession = contract({
  method: "DELETE",
  path: "/admin/v1/me/sessions/{id}",
  id: "endMySession",
  summary: "Ends a session of the person",
  description: ONLY,
  needs: { role: "admin", on: "path" },
  answer: { name: "MySessionEnded", schema: answer({ id: Type.String() }) },
});
