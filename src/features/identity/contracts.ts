/** People and workloads in the operator's API. */
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "../../operator/contract.ts";
import { answer, PAGE, PATH, request, time, words } from "../../operator/shapes.ts";
import { ROLES } from "./groups.ts";

const GRANT = {
  role: words(ROLES, "Members, managers and admins may use models."),
  on: PATH,
};

export const Person = answer(
  {
    id: Type.String({
      description:
        "`per_…`: follows from issuer and subject. `wait_…`: a user of SCIM who has no subject yet.",
    }),
    issuer: Type.String(),
    subject: Type.String({ description: "Permanent id of the person at its issuer." }),
    name: Type.String({ description: "Empty: it was forgotten, or never known." }),
    email: Type.Optional(Type.String()),
    isEmailVerified: Type.Boolean({ description: "Whether the issuer says that the address is verified." }),
    path: Type.String({
      description: "Where its calls are booked: as its last token said, or as an operator has set it.",
    }),
    isPathSet: Type.Boolean({ description: "An operator has set the path." }),
    status: words(["active", "suspended", "deleted"]),
    grants: Type.Array(
      answer({
        ...GRANT,
        source: Type.String({
          description: "`hand`, `config`, `scim:NAME`, or `group:NAME` as of the last sign-in.",
        }),
      }),
      { description: "Besides those of the groups in its tokens." },
    ),
    tokensFrom: Type.Optional(time("Tokens that were issued before are refused.")),
    source: Type.String({
      description: "How weir learned of it: `token`, `sign-in`, `scim`, `operator` or `config`.",
    }),
    createdAt: time(""),
    seenAt: time("When weir last wrote it down; calls are in the list of calls."),
  },
  { description: "A person or workload." },
);
export type Person = Static<typeof Person>;

export const PersonPage = answer({
  people: Type.Array(Person),
  next: Type.Optional(Type.String({ description: "Cursor for `after`." })),
});
export type PersonPage = Static<typeof PersonPage>;

const ERRORS = ["not_found", "person_not_confirmed"];

export const listPeople = contract({
  method: "GET",
  path: "/admin/v1/people",
  id: "listPeople",
  summary: "People and workloads that have used tokens, or that an operator has named",
  needs: { role: "read", on: "path" },
  query: request({
    ...PAGE,
    q: Type.Optional(
      Type.String({ maxLength: 200, description: "Part of a name, an address, a subject or an id." }),
    ),
  }),
  answer: { name: "People", schema: PersonPage },
});

export const getPerson = contract({
  method: "GET",
  path: "/admin/v1/people/{id}",
  id: "getPerson",
  summary: "One person or workload",
  needs: { role: "read", on: "path" },
  answer: { name: "Person", schema: Person },
  errors: ["not_found"],
});

export const addPerson = contract({
  method: "POST",
  path: "/admin/v1/people",
  id: "addPerson",
  summary: "Names a person before its first token",
  needs: { role: "admin", on: "path" },
  body: request({
    issuer: Type.String({ maxLength: 500, description: "As its tokens have it." }),
    subject: Type.String({ minLength: 1, maxLength: 255 }),
    name: Type.Optional(Type.String({ maxLength: 80 })),
    path: PATH,
    grants: Type.Array(request(GRANT), { maxItems: 50, default: [] }),
  }),
  answer: { name: "Person", schema: Person },
  errors: ["conflict", "not_permitted", "person_not_confirmed"],
});

export const changePerson = contract({
  method: "PATCH",
  path: "/admin/v1/people/{id}",
  id: "changePerson",
  summary: "Suspends a person, restores it, or changes its path and its grants",
  description:
    "When it is answered, no call that begins later passes by what was before, at all workers of all gateways. What is left out stays.",
  needs: { role: "admin", on: "path" },
  body: request({
    status: Type.Optional(words(["active", "suspended"])),
    cut: Type.Optional(
      Type.Boolean({ description: "With `suspended`: ends its running calls too. Default false." }),
    ),
    path: Type.Optional(
      Type.Union([PATH, Type.Null()], {
        description: "Where its calls are booked; `null`: as its tokens say.",
      }),
    ),
    grants: Type.Optional(
      Type.Array(request(GRANT), { maxItems: 50, description: "All grants by hand; others stay." }),
    ),
    revokeTokens: Type.Optional(
      Type.Boolean({ description: "Refuses all tokens that were issued up to now." }),
    ),
  }),
  answer: { name: "Person", schema: Person },
  errors: [...ERRORS, "not_permitted", "declared", "last_admin"],
});

export const forgetPerson = contract({
  method: "POST",
  path: "/admin/v1/people/{id}/forget",
  id: "forgetPerson",
  summary: "Wipes name and address of a person, and refuses its tokens. Its calls stay, with its id",
  needs: { role: "admin", on: "path" },
  answer: { name: "Person", schema: Person },
  errors: [...ERRORS, "not_permitted", "last_admin"],
});

export const revokeToken = contract({
  method: "POST",
  path: "/admin/v1/tokens/revoke",
  id: "revokeToken",
  summary: "Refuses one token of an issuer from now on",
  needs: { role: "admin", on: "gateway" },
  body: request({
    issuer: Type.String({ maxLength: 500, description: "As the claim `iss` has it." }),
    jti: Type.String({ minLength: 1, maxLength: 500, description: "Its claim `jti`." }),
  }),
  answer: { name: "TokenRevoked", schema: answer({ id: Type.String() }) },
  errors: ["person_not_confirmed"],
});
