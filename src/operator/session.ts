/** Sign-in to the console. */
import { answer, request, time, words } from "./shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "./contract.ts";

/** One of both. */
export const SignIn = request({
  token: Type.Optional(
    Type.String({ maxLength: 200, description: "The part behind `#t=` of a sign-in link." }),
  ),
  key: Type.Optional(Type.String({ maxLength: 512, description: "An admin key or a read key." })),
});
export type SignIn = Static<typeof SignIn>;

export const Session = answer({
  role: words(["admin", "read"]),
  path: Type.String({ description: "The session sees and changes what lies on this path and below." }),
  actor: Type.String({ description: "Id of the key, or `console` for a sign-in link." }),
  name: Type.Optional(Type.String({ description: "Name of the key." })),
  expiresAt: Type.Optional(time("Absent for requests with a key instead of a session.")),
  version: Type.String({ description: "Version of weir." }),
  port: Type.Integer({ description: "Port of the admin listener." }),
  gateway: Type.Optional(Type.String({ description: "Where the gateway listens for calls." })),
});
export type Session = Static<typeof Session>;

export const SignInLink = answer({
  url: Type.String({ description: "Opens the console, signed in. It works once." }),
  expiresAt: time(""),
});
export type SignInLink = Static<typeof SignInLink>;

export const getSession = contract({
  method: "GET",
  path: "/admin/v1/session",
  id: "getSession",
  summary: "Who asks, by a key or by the cookie of the console",
  needs: { role: "read", on: "path" },
  answer: { name: "Session", schema: Session },
});

export const signIn = contract({
  method: "POST",
  path: "/admin/v1/session",
  id: "signIn",
  summary: "Trades a sign-in link or a key for the cookie of the console",
  description:
    "Needs the header `x-weir-console: 1` and an Origin. The cookie is HttpOnly and SameSite=Strict, and valid for twelve hours; after five wrong tries within a minute an address waits.",
  needs: { role: "none", on: "path" },
  body: SignIn,
  answer: { name: "Session", schema: Session },
  errors: ["link_used"],
});

export const signOut = contract({
  method: "DELETE",
  path: "/admin/v1/session",
  id: "signOut",
  summary: "Ends the session of the console",
  needs: { role: "read", on: "path" },
  answer: { name: "SignedOut", schema: Type.Object({}) },
});

export const makeSignInLink = contract({
  method: "POST",
  path: "/admin/v1/session/link",
  id: "makeSignInLink",
  summary: "A link that opens the console, signed in. It works once, within ten minutes",
  needs: { role: "admin", on: "gateway" },
  answer: { name: "SignInLink", schema: SignInLink },
});
