/** The section of the configuration for tools. */
import { resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import type { Fault } from "../../config/error.ts";
import { section } from "../../config/section.ts";
import { auth, authFaults } from "./auth/section.ts";
import { CLOSED, oneOf, secret } from "../../config/sections/kinds.ts";
import { runOptions } from "./declarations.ts";
import { PIN_MODES } from "./pins/declarations.ts";
import { samplesOf, samplingFaults, samplingOptions } from "./sampling/section.ts";

/** Names of servers: without an underscore, because the first `__` of a tool's name ends that of its server. */
export const SERVER_NAME = /^[a-z][a-z0-9-]{0,23}$/;
const RESERVED = new Set(["weir", "health", "oauth", "connect"]);

const texts = (description: string, examples: readonly string[][]) =>
  Type.Optional(Type.Array(Type.String(), { description, examples }));

const time = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000, description }));

const server = Type.Object(
  {
    url: Type.Optional(
      Type.String({
        examples: ["https://api.githubcopilot.com/mcp/"],
        description: "URL of a server that is reached over HTTP.",
      }),
    ),
    command: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        examples: [["npx", "-y", "@modelcontextprotocol/server-memory@2026.8.31"]],
        description:
          "Program of a server that speaks over its standard input and output, with its arguments. No shell reads them.",
      }),
    ),
    env: Type.Optional(
      Type.Record(Type.String(), secret("Value of the variable."), {
        description:
          "Environment variables of the program. It inherits only `PATH`, `LANG` and `TZ`. `{folder}` in a value stands for a lasting folder of the server and the caller.",
      }),
    ),
    auth: Type.Optional(auth),
    allow: texts(
      "Names of keys, or paths with all keys below them, that may use the server; `*`: every caller. Default: none.",
      [["/eng", "alice"]],
    ),
    only: texts(
      "The tools of the server that weir shows, by their names there: `*` stands for any text, `!` in front takes tools away, the last pattern that matches decides. Default: all.",
      [["get_*", "!get_secret"]],
    ),
    isolation: Type.Optional(
      oneOf(["key", "shared", "call"], {
        description:
          "Who shares a session with the server, or its program: the calls of one key (`key`), all (`shared`), or none (`call`). Default: `key`.",
      }),
    ),
    era: Type.Optional(
      oneOf(["auto", "modern", "legacy"], {
        description:
          "Revision of the protocol that the server speaks: `modern` is 2026-07-28 and later, `legacy` is earlier. Default: `auto`, which finds it out.",
      }),
    ),
    timeoutMs: time("Longest time of a call, in milliseconds. Default: 60000."),
    idleMs: time("How long a session or program without calls is kept, in milliseconds. Default: 600000."),
  },
  { ...CLOSED, description: "A server: its `url` or its `command`, and who may use it." },
);

export const toolsSection = section(
  "tools",
  Type.Object(
    {
      servers: Type.Record(Type.String(), server, {
        default: {},
        description: "The servers by their names: lower-case letters, digits and dashes.",
      }),
      url: Type.Optional(
        Type.String({
          examples: ["https://weir.corp.example"],
          description:
            "Address at which browsers reach the gateway's listener, for callers who connect accounts at servers.",
        }),
      ),
      hosts: texts(
        "Hosts of authorization servers, with a port if it is not 443, that may be at addresses of this network. Others must be public.",
        [["login.corp.example"]],
      ),
      bodyBytes: Type.Integer({
        minimum: 1024,
        maximum: 67_108_864,
        default: 4_194_304,
        description: "Largest message of a client, in bytes.",
      }),
      pin: Type.Optional(
        oneOf(PIN_MODES, {
          description:
            "What happens with tools that are new or differ from what a server listed first: hidden until an operator approves them (`approve`), logged (`warn`), or nothing (`off`). Default: `approve` for callers with a key, `off` while calls need none.",
        }),
      ),
      pins: Type.Optional(
        Type.String({
          examples: ["pins.json"],
          description:
            "File with the approved tools, for review: hashes by server and tool. It counts in place of what the store has, and `weir tools approve SERVER` writes it. Without the file nothing is approved.",
        }),
      ),
      lean: Type.Optional(
        oneOf(["search"], {
          description:
            "`search`: in place of all tools `/mcp` lists `find_tools`, `describe_tool` and `call_tool`, for clients that have no search of their own.",
        }),
      ),
      strict: Type.Optional(
        Type.Boolean({
          description:
            "Refuses results of servers of revision 2026-07-28 that lack `resultType`, which weir else adds. Default: false.",
        }),
      ),
      run: runOptions,
      sampling: Type.Optional(samplingOptions),
      cost: Type.Optional(
        Type.Boolean({
          description:
            "Notes with each call how large the definitions and results of its tools are, for `weir tools cost` and `weir tools diet`. Names and sizes, no texts. Default: false.",
        }),
      ),
      prices: Type.Optional(
        Type.Record(Type.String(), Type.Number({ minimum: 0 }), {
          examples: [{ github__search_code: 0.002 }],
          description:
            "Dollars for one call, by patterns over `SERVER__TOOL`. The last one that matches counts; default: nothing.",
        }),
      ),
    },
    {
      ...CLOSED,
      description: "Servers of the Model Context Protocol that clients and models use through weir.",
    },
  ),
  { faults, settle: (value, { folder }) => located(value, folder) },
);

type Options = Static<typeof toolsSection.schema>;
type ServerOptions = Options["servers"][string];

/** The options of a server with their defaults. */
export type ServerConfig = ServerOptions &
  Required<Pick<ServerOptions, keyof typeof DEFAULTS>> & {
    /** Most answers of models that it may ask for in one call of a tool. */
    readonly samples: number;
  };
export type ToolsConfig = Omit<Options, "servers"> & {
  readonly servers: Readonly<Record<string, ServerConfig>>;
};

const DEFAULTS = {
  ...{ allow: [] as string[], only: [] as string[] },
  ...{ isolation: "key" as const, era: "auto" as const, timeoutMs: 60_000, idleMs: 600_000 },
} satisfies Partial<ServerOptions>;

/** The options of a config. */
export function toolsOf(config: object): ToolsConfig {
  const { servers, ...options } = toolsSection.of(config);
  const whole = Object.entries(servers).map(([name, server]) => {
    const samples = samplesOf(options.sampling, name);
    return [name, { ...DEFAULTS, ...server, samples }] as const;
  });
  return {
    ...options,
    // Somebody approves what is in a file, also while calls need no key.
    ...(options.pins !== undefined && { pin: options.pin ?? "approve" }),
    servers: Object.fromEntries(whole),
  };
}

/** The file of pins is relative to the config. */
function located<Value extends { pins?: string }>(value: Value, folder: string): Value {
  return value.pins === undefined ? value : { ...value, pins: resolve(folder, value.pins) };
}

function faults(written: unknown): readonly Fault[] {
  const { servers = {}, url, sampling } = written as Partial<Options>;
  const own =
    url === undefined || isHttp(url) ? [] : [{ path: ["tools", "url"], clause: "must be an https:// URL" }];
  return [
    ...own,
    ...samplingFaults(sampling, Object.keys(servers)),
    ...Object.entries(servers).flatMap(([name, one]) => serverFaults(name, one, url)),
  ];
}

function serverFaults(
  name: string,
  { url, command, auth: proves, env, isolation }: ServerOptions,
  own: string | undefined,
): Fault[] {
  const path = ["tools", "servers", name];
  const found: Fault[] = [];
  const add = (clause: string, ...more: string[]) => void found.push({ path: [...path, ...more], clause });
  if (!SERVER_NAME.test(name) || RESERVED.has(name))
    add(
      `the name of a server must be at most 24 lower-case letters, digits and dashes, and none of ${[...RESERVED].join(", ")}`,
    );
  if ((url === undefined) === (command === undefined)) add("a server must have either url or command");
  if (url !== undefined && !isHttp(url)) add("must be an http:// or https:// URL without a user", "url");
  if (url !== undefined && env) add("variables belong to a server with a command", "env");
  if (command !== undefined && proves)
    add("auth belongs to a server with a url; give a program variables by env", "auth");
  for (const { clause, at } of proves ? authFaults(proves, own) : []) add(clause, "auth", ...at);
  if ((proves?.user ?? proves?.exchange ?? proves?.clientHeader) && isolation === "shared")
    add("callers with credentials of their own cannot share a session", "isolation");
  return found;
}

function isHttp(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === "http:" || protocol === "https:") && username === "" && password === "";
}
