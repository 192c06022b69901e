/** The programs that sign people in at weir, in the config. */
import { type Static, Type } from "@sinclair/typebox";
import { CLOSED, secret } from "../../../config/sections/kinds.ts";

const claudeCode = Type.Object(
  {
    settings: Type.Optional(
      Type.Record(Type.String(), Type.Object({}, { additionalProperties: true }), {
        description:
          'Managed settings of Claude Code, by path: `{"/": {permissions: {deny: [WebFetch]}}}`. Those of a path are merged into those of the paths above.',
      }),
    ),
    tag: Type.Optional(
      Type.String({
        description:
          "Member of `tags` that Claude Code sends whose value becomes a tag of the call: `NAME:VALUE`.",
      }),
    ),
    telemetry: Type.Optional(
      Type.String({
        description:
          "Base URL of an OTLP collector that gets what Claude Code measures, with person and path. Absent: weir drops it.",
      }),
    ),
    telemetryHeaders: Type.Optional(
      Type.Record(Type.String(), secret("A value."), {
        description: "Headers for that collector: `{authorization: Bearer …}`.",
      }),
    ),
  },
  CLOSED,
);

export const clients = Type.Object(
  {
    "claude-code": Type.Union([Type.Boolean(), claudeCode], {
      default: true,
      "x-expects": "true, false or a group of options",
      description:
        "Whether Claude Code may sign in at weir with `/login`, and what weir manages of it: its settings, a tag, its telemetry.",
    }),
    mcp: Type.Boolean({
      default: true,
      description: "Whether MCP clients may sign in that name themselves by an address (CIMD).",
    }),
    hosts: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "Hosts, with a port if it is not 443, whose documents of clients may be at addresses of this network: `tools.corp.example`. Others must be public.",
      }),
    ),
    dcr: Type.Boolean({
      default: false,
      description: "Whether clients may register themselves (RFC 7591).",
    }),
  },
  { ...CLOSED, description: "Programs in which people may sign in at weir." },
);

export type ClaudeCodeConfig = Static<typeof claudeCode>;
