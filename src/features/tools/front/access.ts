/** What a caller may use: the servers that allow it, and the patterns of its key. */
import type { Principal } from "../../../core/principal.ts";
import { ANYONE, type Caller } from "../asks.ts";
import { tools as allowedTools } from "../key-options.ts";
import { pinModeFor } from "../pins/declarations.ts";
import type { ToolsConfig } from "../section.ts";

/** In place of a header: the token of the caller itself. */
const SHOWN = Symbol("token of the caller");

export class Access {
  readonly #servers: readonly (readonly [name: string, allow: readonly string[]])[];
  /** Servers for which clients bring credentials, with the headers. */
  readonly #brought: readonly (readonly [server: string, header: string | typeof SHOWN])[];
  readonly #known = new WeakMap<Principal, Caller>();
  readonly #anyone: Caller;
  readonly #called: () => void;

  readonly #pin: ToolsConfig["pin"];

  /** @param called a caller with a credential asks for the first time */
  constructor({ servers, pin }: ToolsConfig, called: () => void) {
    this.#called = called;
    this.#pin = pin;
    this.#brought = Object.entries(servers).flatMap(([name, server]) => {
      const place = placeIn(server);
      return place === undefined ? [] : [[name, place] as const];
    });
    this.#servers = Object.entries(servers).map(([name, { allow }]) => [name, allow]);
    this.#anyone = { id: ANYONE, servers: this.#allowing(undefined), pin: pinModeFor(pin, undefined) };
  }

  /** The caller of a request, with the credentials that it brings for servers. @param principal undefined while calls need no key */
  bringing(principal: Principal | undefined, headers: Headers): Caller {
    const caller = this.of(principal);
    const brought = this.#brought.flatMap(([server, header]) => {
      if (!caller.servers.includes(server)) return [];
      const value = header === SHOWN ? tokenIn(headers, principal) : headers.get(header)?.trim();
      return value ? [[server, value] as const] : [];
    });
    return brought.length === 0 ? caller : { ...caller, brought: Object.fromEntries(brought) };
  }

  /** @param principal undefined while calls need no key */
  of(principal: Principal | undefined): Caller {
    if (!principal) return this.#anyone;
    let caller = this.#known.get(principal);
    if (!caller) {
      const tools = allowedTools.of(principal);
      caller = {
        ...{ id: principal.id, servers: this.#allowing(principal), ...(tools && { tools }) },
        pin: pinModeFor(this.#pin, principal),
      };
      this.#known.set(principal, caller);
      this.#called();
    }
    return caller;
  }

  #allowing(principal: Principal | undefined): string[] {
    return this.#servers.flatMap(([name, allow]) =>
      allow.some((one) => allows(one, principal)) ? [name] : [],
    );
  }
}

function allows(entry: string, principal: Principal | undefined): boolean {
  if (entry === "*") return true;
  if (!principal) return false;
  const { path, key } = principal;
  return entry.startsWith("/") ? path === entry || path.startsWith(`${entry}/`) : key?.name === entry;
}

/** Where a request has a credential for a server. */
function placeIn({ auth }: ToolsConfig["servers"][string]): string | typeof SHOWN | undefined {
  return auth?.exchange ? SHOWN : auth?.clientHeader;
}

/** The token with which a caller shows itself; a key is none, and goes nowhere. */
function tokenIn(headers: Headers, principal: Principal | undefined): string | undefined {
  const [, token] = /^bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(headers.get("authorization") ?? "") ?? [];
  return principal && !principal.key ? token : undefined;
}
