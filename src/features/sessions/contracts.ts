/** Sessions. */
import { type Static, Type } from "@sinclair/typebox";
import { CacheBreak } from "../../operator/cache.ts";
import { contract } from "../../operator/contract.ts";
import { answer, FILTER, mapOf, nano, request, time } from "../../operator/shapes.ts";
import { TalkPart, TalkTurn } from "../../operator/talk.ts";

const OF_SESSION = {
  session: Type.String({ description: "Its hash, 16 hexadecimal digits." }),
  key: Type.Optional(Type.String({ description: "Id of the key." })),
  keyName: Type.Optional(Type.String()),
  path: Type.String(),
  firstAt: time(""),
  lastAt: time(""),
  count: Type.Integer({ description: "All calls of the session." }),
};

const SUMS = {
  summed: Type.Integer({ description: "Calls that the sums are made of." }),
  toolTurns: Type.Integer({ description: "Calls that ended with calls of tools." }),
  failed: Type.Integer(),
  prompt: Type.Integer({ description: "Tokens of prompts." }),
  cacheRead: Type.Integer({ description: "Those of them that were read from a cache." }),
  output: Type.Integer(),
  cost: nano(""),
  uncertain: Type.Integer({ description: "Calls whose charge is estimated or assumed." }),
  unpriced: Type.Integer({ description: "Calls with tokens and without a price; `cost` is without them." }),
};

export const SessionRow = answer({
  ...OF_SESSION,
  ...SUMS,
  client: Type.Optional(Type.String({ description: "Of its newest call." })),
});
export type SessionRow = Static<typeof SessionRow>;

export const SessionList = answer({ sessions: Type.Array(SessionRow) });

export const SessionTurn = answer({
  id: Type.String({ description: "Id of the call." }),
  startedAt: time(""),
  ms: Type.Number(),
  model: Type.String({ description: "The model as the client named it." }),
  provider: Type.Optional(Type.String()),
  client: Type.Optional(Type.String()),
  status: Type.Integer(),
  outcome: Type.String(),
  finish: Type.Optional(Type.String()),
  prompt: Type.Integer({ description: "Tokens." }),
  cacheRead: Type.Integer(),
  cacheWrite: Type.Integer(),
  output: Type.Integer(),
  cost: nano(""),
  state: Type.Optional(Type.String({ description: "Of the charge." })),
  cacheBreak: Type.Optional(CacheBreak),
  captured: Type.Boolean({ description: "weir keeps its bodies." }),
});
export type SessionTurn = Static<typeof SessionTurn>;

export const SessionEntry = answer({
  ...OF_SESSION,
  ...SUMS,
  turns: Type.Array(SessionTurn, { description: "The oldest first; at most the newest 500." }),
});
export type SessionEntry = Static<typeof SessionEntry>;

export const TurnTalk = answer({
  id: Type.String({ description: "Id of the call." }),
  added: Type.Array(TalkTurn, { description: "What the turns before it do not have." }),
  answer: Type.Array(TalkPart),
  anew: Type.Optional(
    Type.Literal(true, { description: "It does not continue a turn before it, or changes what was said." }),
  ),
});
export type TurnTalk = Static<typeof TurnTalk>;

export const SessionTalk = answer(
  { turns: Type.Array(TurnTalk, { description: "Captured turns among the newest 200, the oldest first." }) },
  { description: "What was said in a session." },
);

const SEARCH = request({
  from: FILTER.from,
  to: FILTER.to,
  key: FILTER.key,
  path: FILTER.path,
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
});

export const listFirstWords = contract({
  method: "GET",
  path: "/admin/v1/session-words",
  id: "listFirstWords",
  summary: "Where the newest sessions begin",
  description: "Each look leaves an entry in the audit log.",
  needs: { role: "admin", on: "path" },
  query: SEARCH,
  answer: {
    name: "FirstWords",
    schema: answer({ words: mapOf(Type.String(), "By session, of those that are captured.") }),
  },
  errors: ["not_found"],
});

export const listConversations = contract({
  method: "GET",
  path: "/admin/v1/sessions",
  id: "listConversations",
  summary: "The newest sessions with their sums",
  needs: { role: "read", on: "path" },
  query: SEARCH,
  answer: { name: "SessionList", schema: SessionList },
  errors: ["not_found"],
});

export const getConversation = contract({
  method: "GET",
  path: "/admin/v1/sessions/{id}",
  id: "getConversation",
  summary: "The turns of a session with what each cost",
  needs: { role: "read", on: "path" },
  answer: { name: "SessionEntry", schema: SessionEntry },
  errors: ["not_found"],
});

export const getConversationTalk = contract({
  method: "GET",
  path: "/admin/v1/sessions/{id}/talk",
  id: "getConversationTalk",
  summary: "What was said in a session",
  description: "Each look leaves an entry in the audit log.",
  needs: { role: "admin", on: "path" },
  answer: { name: "SessionTalk", schema: SessionTalk },
  errors: ["not_found"],
});
