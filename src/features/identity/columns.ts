/** Who asked, in the record of a call. */
import { Type } from "@sinclair/typebox";
import { column } from "../../core/column.ts";
import type { Principal } from "../../core/principal.ts";

/** What a principal of this feature has besides its members. Permissions are shared between principals, so this is not in them. */
export interface CallerFacts {
  /** Name of the person, and of the program that got the token. */
  readonly name: string;
  readonly client?: string;
  /** The resource of weir for which alone the token is; absent: all. */
  readonly audience?: string;
  /** What weir's own token is for; absent: all. */
  readonly scope?: string;
}

/** By the principal, since several share their permissions. */
const facts = new WeakMap<Principal, CallerFacts>();

export const factsOf = (principal: Principal | undefined) => principal && facts.get(principal);
export const noteFacts = (principal: Principal, noted: CallerFacts) => void facts.set(principal, noted);

export const person = column({
  name: "person",
  schema: Type.String({ description: "Id of the person or workload who asked with a token." }),
  of: ({ principal }) => principal?.person,
  fact: { label: "Person", text: (id) => id, find: (id) => id },
  filter: { value: "PERSON", help: "calls of this person or workload" },
});

export const personName = column({
  name: "personName",
  schema: Type.String({ description: "Name of that person or workload, as the token has it." }),
  of: ({ principal }) => factsOf(principal)?.name,
  fact: { label: "Name", text: (name) => name },
});

export const via = column({
  name: "via",
  schema: Type.String({
    description: "How the caller proved who it is: `jwt/NAME` for a token of that issuer.",
  }),
  of: ({ principal }) => principal?.via,
  fact: { label: "Signed in by", text: (text) => text },
});

export const client = column({
  name: "clientId",
  schema: Type.String({ description: "Program that got the token, as its issuer names it." }),
  of: ({ principal }) => factsOf(principal)?.client,
  fact: { label: "Program", text: (text) => text },
});
