/** Which servers of weir a request names, in the words of its format and in the header of all formats. */
import { invalidRequest } from "../../../core/error.ts";
import { globMatches } from "../../../core/glob.ts";
import type { HostedAsk, HostedServer, HostedTool } from "../../../core/format.ts";
import type { OfferedTool } from "../bench.ts";
import { SERVER_NAME } from "../section.ts";

/** Names servers whose tools weir runs for the call: for clients whose format has no words for that. */
export const TOOLS_HEADER = "x-weir-tools";

/** A part of a request that names one server of weir, or all of them. */
export interface Reference extends HostedServer {
  /** Absent: all that the caller may use. */
  readonly server?: string;
  /** The config names it: a caller who may not use it gets its answer without it. */
  readonly isOptional?: boolean;
}

/** What a request asks of tools that weir runs. */
export interface Asked {
  readonly references: readonly Reference[];
  readonly choice?: HostedAsk["choice"];
  /** The most calls that the client permits. */
  readonly most?: number;
}

/** The servers of a request that are weir's, and the paths of those that are not. */
export interface Sorted {
  readonly references: readonly Reference[];
  readonly foreign: readonly string[];
}

/**
 * @param host at which the client has reached weir
 * @throws GatewayError `invalid-request` for a name that cannot be one
 */
export function sortServers(servers: readonly HostedServer[], host: string): Sorted {
  const references: Reference[] = [];
  const foreign: string[] = [];
  for (const one of servers) {
    const at = readUrl(one.url, host);
    if (!at) foreign.push(one.path);
    else if (/^[\w-]{1,64}$/.test(one.label)) references.push({ ...one, ...at });
    else
      throw invalidRequest(
        `${one.path}: the name of a server has at most 64 letters, digits, _ and -.`,
        one.path,
      );
  }
  return { references, foreign };
}

/**
 * The server at an address: `weir` is all of them, `weir/NAME` is one, and so is the URL at which the client reaches weir. weir
 * connects to no address that a request names.
 */
function readUrl(url: string | undefined, host: string): { server?: string } | undefined {
  if (url === undefined) return undefined;
  const isShort = url === "weir" || url.startsWith("weir/");
  const path = isShort ? url.slice("weir".length) : pathAt(url, host);
  if (path === "" || path === "/") return {};
  const server = path?.slice(1);
  return server !== undefined && SERVER_NAME.test(server) ? { server } : undefined;
}

function pathAt(url: string, host: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  const isOwn = parsed.host === host && /^\/mcp(\/|$)/.test(parsed.pathname) && parsed.username === "";
  return isOwn ? parsed.pathname.slice("/mcp".length) : undefined;
}

/** The servers that the header names. @throws GatewayError `invalid-request` for what is no name */
export function readHeader(header: string): Reference[] {
  const names = header.split(",").map((name) => name.trim());
  return names.flatMap((name): Reference[] => {
    if (name === "") return [];
    if (name === ALL || SERVER_NAME.test(name)) return [toServer(name, TOOLS_HEADER)];
    throw invalidRequest(
      `${TOOLS_HEADER}: names of servers with commas between them, or * for all.`,
      TOOLS_HEADER,
    );
  });
}

/** The servers whose tools a model always gets, by patterns over its name. */
export type OfferedByModel = Readonly<Record<string, readonly string[]>>;

export function offeredTo(model: string, offered: OfferedByModel): Reference[] {
  const patterns = Object.keys(offered).filter((pattern) => globMatches(pattern, model));
  const names = new Set(patterns.flatMap((pattern) => offered[pattern]!));
  return [...names].map((name) => ({ ...toServer(name, "model"), isOptional: true }));
}

/** All that the caller may use. */
const ALL = "*";

function toServer(name: string, path: string): Reference {
  const common = { path, wants: () => true, asksFirst: () => false };
  return name === ALL ? { label: "weir", ...common } : { label: name, server: name, ...common };
}

/** The name of a tool as the client of a reference knows it. */
export function shownName({ server }: Reference, tool: OfferedTool): string {
  return server === undefined ? tool.name : tool.tool;
}

/** A tool as the filters of a request see it. */
export function filtered({ name, tool, annotations }: OfferedTool): HostedTool {
  return { names: [tool, name], isReadOnly: annotations?.["readOnlyHint"] === true };
}
