/** Servers, their tools and pins in the operator's API. */
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "../../../operator/contract.ts";
import { answer, nano, PAGE, pageOf, request, time, words } from "../../../operator/shapes.ts";
import { PIN_MODES } from "../pins/declarations.ts";

const UNTRUSTED = "As the server says it: untrusted text.";

export const ToolServer = answer(
  {
    name: Type.String(),
    transport: Type.Optional(words(["http", "program"])),
    at: Type.Optional(
      Type.String({ description: "Its URL without the query, or its program without arguments." }),
    ),
    allow: Type.Array(Type.String(), { description: "Keys and paths that may use it; `*`: every caller." }),
    only: Type.Array(Type.String()),
    isolation: Type.Optional(words(["key", "shared", "call"])),
    pin: Type.Optional(
      words(PIN_MODES, "Absent: `approve` for callers with a key, `off` while calls need none."),
    ),
    state: words(["up", "down", "unknown"], "When weir talked to it last; `unknown`: not since the start."),
    reason: Type.Optional(Type.String({ description: "Why it is down." })),
    era: Type.Optional(words(["modern", "legacy"])),
    version: Type.Optional(Type.String({ description: "Revision of the protocol." })),
    software: Type.Optional(Type.String({ description: `Name and version. ${UNTRUSTED}` })),
    seenAt: Type.Optional(time("When weir talked to it last.")),
    tools: Type.Integer({ description: "Approved tools; without pins, all." }),
    tokens: Type.Integer({ description: "Estimated tokens of their definitions." }),
    waiting: Type.Integer({ description: "Tools that are new, changed or gone." }),
  },
  { description: "A server of tools. Without a running gateway only what the store knows." },
);
export type ToolServer = Static<typeof ToolServer>;

export const ToolServers = answer({ servers: Type.Array(ToolServer) });

const NAMES = {
  tool: Type.String({ description: `Its name at the server. ${UNTRUSTED}` }),
  hash: Type.String({ description: "SHA-256 of what is pinned; empty for a tool that is gone." }),
  since: time("Since when it is so."),
};

export const ServerTool = answer({
  ...NAMES,
  name: Type.String({
    description: "`SERVER__TOOL`, for clients of `/mcp`. Longer ones are shortened there.",
  }),
  state: words(
    ["approved", "new", "changed", "gone", "seen"],
    "`seen`: definitions are not pinned. The definition of a changed tool is the approved one.",
  ),
  definition: Type.Unsafe<Readonly<Record<string, unknown>>>(
    Type.Object({}, { additionalProperties: true, description: UNTRUSTED }),
  ),
  tokens: Type.Integer({ description: "Estimated tokens of the definition." }),
  price: nano("Of one call."),
});
export type ServerTool = Static<typeof ServerTool>;

export const ToolPage = pageOf("tools", ServerTool);

export const PinDifference = answer({
  ...NAMES,
  kind: words(["new", "changed", "gone"]),
  lines: Type.Array(
    answer({
      sign: words([" ", "-", "+"]),
      text: Type.String({ description: "What does not show is an escape: `\\u{200B}`." }),
    }),
    { description: "The difference for people." },
  ),
});

export const ServerPins = answer({
  server: Type.String(),
  digest: Type.String({ description: "Of what waits, for `approve`." }),
  changes: Type.Array(PinDifference),
});
export type ServerPins = Static<typeof ServerPins>;

export const PinsApproved = answer({
  server: Type.String(),
  changes: Type.Array(Type.String(), { description: "What was approved: `new search`." }),
  file: Type.Optional(
    answer(
      {
        path: Type.String(),
        text: Type.String({ description: "The whole file with the change." }),
        fault: Type.Optional(
          Type.String({ description: "Why it could not be written: then nothing was approved." }),
        ),
      },
      { description: "The file of `tools.pins`, where the config names one. It holds within some seconds." },
    ),
  ),
});
export type PinsApproved = Static<typeof PinsApproved>;

export const ServerLogs = answer({
  programs: Type.Array(
    answer({
      program: Type.String({ description: "Which program of the server." }),
      text: Type.String({ description: `The end of what it wrote to its standard error. ${UNTRUSTED}` }),
    }),
  ),
});

export const listToolServers = contract({
  method: "GET",
  path: "/admin/v1/tools/servers",
  id: "listToolServers",
  summary: "The servers of tools, how they are, and what waits for an approval",
  needs: { role: "read", on: "gateway" },
  answer: { name: "ToolServers", schema: ToolServers },
});

export const listServerTools = contract({
  method: "GET",
  path: "/admin/v1/tools/servers/{server}/tools",
  id: "listServerTools",
  summary: "The tools of a server, with definitions, tokens, prices and pins",
  needs: { role: "read", on: "gateway" },
  query: request(PAGE),
  answer: { name: "ServerToolPage", schema: ToolPage },
  errors: ["not_found"],
});

export const getServerPins = contract({
  method: "GET",
  path: "/admin/v1/tools/servers/{server}/pins",
  id: "getServerPins",
  summary: "What a server lists otherwise than it was approved",
  needs: { role: "read", on: "gateway" },
  answer: { name: "ServerPins", schema: ServerPins },
  errors: ["not_found"],
});

export const approveServerTools = contract({
  method: "POST",
  path: "/admin/v1/tools/servers/{server}/approve",
  id: "approveServerTools",
  summary: "Approves tools of a server that are new, changed or gone",
  description: "When it is answered, all workers of all gateways show them.",
  needs: { role: "admin", on: "gateway" },
  body: request({
    digest: Type.String({ maxLength: 100, description: "Of the changes that were looked at." }),
    tools: Type.Optional(
      Type.Array(Type.String(), { maxItems: 5_000, description: "Only these; default: all that wait." }),
    ),
  }),
  answer: { name: "PinsApproved", schema: PinsApproved },
  errors: ["not_found", "pins_changed", "pins_not_confirmed"],
});

export const getServerLogs = contract({
  method: "GET",
  path: "/admin/v1/tools/servers/{server}/logs",
  id: "getServerLogs",
  summary: "What the programs of a server wrote to their standard error",
  needs: { role: "admin", on: "gateway" },
  answer: { name: "ServerLogs", schema: ServerLogs },
  errors: ["not_found", "not_available"],
});
