/** Sign-in to the console. */
import { type Static, Type } from "@sinclair/typebox";
import { answer, request, time, words } from "./shapes.ts";

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
