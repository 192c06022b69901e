/** The tools that a call offers to its model: listed for the caller, narrowed by the request, under names that every model takes. */
import type { ChatRequest, Tool, ToolChoice } from "../../../core/chat.ts";
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import type { HostedChoice } from "../../../core/format.ts";
import type { HostedDeclaration } from "../../../core/events.ts";
import type { Principal } from "../../../core/principal.ts";
import type { Bench, OfferedTool, OfferedTools } from "../bench.ts";
import { McpError } from "../wire/messages.ts";
import { type Asked, filtered, type Reference, shownName } from "./references.ts";

/** A tool on offer. */
export interface OnOffer {
  readonly tool: OfferedTool;
  /** The names of its server and of itself, as the client knows them. */
  readonly label: string;
  readonly shown: string;
  /** The user has to allow each call, because one of the references says so. */
  readonly asksFirst: boolean;
}

/** The tools of one reference, as the client gets them. */
export interface OfferedList {
  readonly label: string;
  readonly tools: readonly HostedDeclaration[];
  /** The server cannot say which tools it has. */
  readonly error?: string;
}

export class Offer {
  /** By the names that the model gets. */
  readonly byName: ReadonlyMap<string, OnOffer>;
  readonly declared: readonly Tool[];
  readonly lists: readonly OfferedList[];
  /** Servers that cannot be reached, as sentences. */
  readonly missing: readonly { readonly path: string; readonly reason: string }[];
  readonly #choice: Asked["choice"];

  /** @throws GatewayError for a server that offers nothing to the caller */
  constructor({ references, choice }: Asked, found: OfferedTools) {
    const byName = new Map<string, OnOffer>();
    const declared = new Map<string, Tool>();
    const missing: { path: string; reason: string }[] = [];
    this.lists = references.map((reference) => {
      const lost = unreachable(reference, found);
      if (lost !== undefined) missing.push({ path: reference.path, reason: lost });
      const own = toolsOf(reference, found);
      if (own.length === 0 && lost === undefined && !hasTools(reference, found) && !reference.isOptional)
        throw unknownServer(reference);
      const { label } = reference;
      const tools = own.map((tool) => {
        const shown = shownName(reference, tool);
        const earlier = byName.get(tool.name);
        const asksFirst = reference.asksFirst(filtered(tool)) || earlier?.asksFirst === true;
        byName.set(tool.name, earlier ? { ...earlier, asksFirst } : { tool, label, shown, asksFirst });
        if (!earlier) declared.set(tool.name, declaration(tool));
        return listed(tool, shown);
      });
      return { label, tools, ...(lost !== undefined && tools.length === 0 && { error: lost }) };
    });
    this.byName = byName;
    this.declared = [...declared.values()];
    this.missing = missing;
    this.#choice = choice;
  }

  /** The tools of the request and those on offer. @throws GatewayError where two have one name */
  beside(tools: readonly Tool[]): Tool[] {
    const twice = tools.find(({ kind, name }) => kind !== "foreign" && this.byName.has(name));
    if (twice)
      throw invalidRequest(
        `${twice.path ?? "tools"}: the tool ${twice.name} has the name of a tool that weir runs; rename it.`,
        twice.path,
        "invalid_value",
      );
    return [...tools, ...this.declared];
  }

  /** The choice of the first turn. @throws GatewayError for a tool that is not on offer */
  choice({ toolChoice }: ChatRequest): ToolChoice | undefined {
    const chosen = this.#choice;
    if (!chosen) return toolChoice;
    const names = chosen.tools.flatMap((one) => this.#named(one));
    const beside = toolChoice?.type === "allowed" ? toolChoice.names : [];
    const [only] = names;
    if (chosen.required && names.length === 1 && beside.length === 0) return { type: "tool", name: only! };
    return { type: "allowed", names: [...beside, ...names], required: chosen.required };
  }

  /** The name for the model of a tool that the client names; undefined if it is not on offer. */
  nameOf(label: string, shown: string): string | undefined {
    for (const [name, one] of this.byName) if (one.label === label && one.shown === shown) return name;
    return undefined;
  }

  #named({ server: label, name }: HostedChoice): string[] {
    const found = [...this.byName]
      .filter(([, one]) => one.label === label && (name === undefined || one.shown === name))
      .map(([own]) => own);
    if (found.length > 0) return found;
    const what = name === undefined ? "tool" : `tool ${name}`;
    throw invalidRequest(`The request demands a ${what} of ${label}, which is not among its tools.`);
  }
}

/** Lists the tools that a request asks for. @throws GatewayError `upstream` if there is no list, and as the constructor */
export async function makeOffer(
  bench: Bench,
  principal: Principal | undefined,
  asked: Asked,
): Promise<Offer> {
  const servers = asked.references.map(({ server }) => server);
  const named = servers.filter((server) => server !== undefined);
  const isNamed = named.length === servers.length;
  const listing = isNamed ? bench.list(principal, [...new Set(named)]) : bench.list(principal);
  return new Offer(asked, await listing.catch(noList));
}

/** An empty list would be one more answer without tools. */
function noList(thrown: unknown): never {
  if (!(thrown instanceof McpError)) throw thrown;
  throw new GatewayError("upstream", `The tools cannot be listed: ${thrown.message}`, {
    code: "tools_unavailable",
  });
}

function toolsOf({ server, wants, listed }: Reference, { tools }: OfferedTools): OfferedTool[] {
  const own = tools.filter(
    (tool) => (server === undefined || tool.server === server) && wants(filtered(tool)),
  );
  if (!listed) return own;
  return own.flatMap((tool) => {
    const pinned = listed.find(({ name }) => name === (server === undefined ? tool.name : tool.tool));
    if (!pinned) return [];
    const { description, parameters } = pinned;
    const { description: _, ...rest } = tool;
    return [{ ...rest, inputSchema: parameters, ...(description !== undefined && { description }) }];
  });
}

function hasTools({ server }: Reference, { tools }: OfferedTools): boolean {
  return server === undefined || tools.some((tool) => tool.server === server);
}

function unreachable({ server }: Reference, { unavailable }: OfferedTools): string | undefined {
  const lost = unavailable.filter((one) => server === undefined || one.server === server);
  return lost.length === 0 ? undefined : lost.map((one) => `${one.server}: ${one.reason}`).join("; ");
}

/** The same words for a server that does not exist and one that the caller may not use. */
function unknownServer({ server, path }: Reference) {
  return invalidRequest(
    `${path}: there is no server of tools ${server} for this key; GET /v1/tools lists those that it may use.`,
    path,
    "unknown_server",
  );
}

function declaration({ name, description, inputSchema }: OfferedTool): Tool {
  const path = `tools.${name}`;
  return {
    kind: "function",
    name,
    ...(description !== undefined && { description }),
    parameters: inputSchema,
    path,
    memberPaths: { parameters: `${path}.inputSchema` },
  };
}

function listed({ description, inputSchema }: OfferedTool, shown: string): HostedDeclaration {
  return { name: shown, ...(description !== undefined && { description }), parameters: inputSchema };
}
