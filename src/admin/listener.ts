/** The listener of the admin API. */
import { hostname } from "node:os";
import type { LoadDeclarations } from "./operations/index.ts";
import { isLoopback } from "../core/host-names.ts";
import { digestOf } from "../ledger/keys/form.ts";
import type { AdminBooks } from "./books.ts";
import { Door } from "./door.ts";
import type { AdminServer, AdminServerOptions } from "./server.ts";
import { Sessions } from "./session/sessions.ts";
import { storedSessions } from "./session/stored-sessions.ts";
import type { AdminSettings } from "../operator/settings.ts";

export interface AdminListener {
  url: string;
  port: number;
  /** Token of a link that signs in to the console; absent where a key exists for that. */
  token?: string;
  /** Lets the next keeper listen at the same address. @throws Error with one sentence where the system cannot do it */
  share(): Promise<void>;
  /** @returns when another process, which listens at the same address, may go on */
  leave(): Promise<void>;
  stop(): void;
}

/**
 * @param opened listens already; default: a new one
 * @throws Error with one sentence if the configured port is taken, or the address can be reached by other machines and there
 * is no admin key
 */
export function startAdmin(
  books: AdminBooks,
  settings: AdminSettings,
  declared: LoadDeclarations,
  opened?: Door,
): AdminListener {
  const { host, credential, version } = settings;
  const isKnown = books.health().degraded.length === 0;
  const hasAdmin = settings.declaresKeys || books.policy().keys.some(isActiveAdmin);
  if (!isLoopback(host) && isKnown && !hasAdmin)
    throw new Error(
      `admin.host ${host} can be reached by other machines, which requires an admin key; set admin.keys in the config, or create one with: weir admin key create NAME`,
    );
  const always = [host, ...(isLoopback(host) ? [] : [hostname()])];
  const sessions = new Sessions(storedSessions(books));
  const isFirst = (settings.restarts ?? 0) === 0;
  const link = isFirst && isLoopback(host) && isKnown && !hasAdmin ? sessions.addLink(Date.now()) : undefined;
  const options: Omit<AdminServerOptions, "operations"> = {
    ...{ books, sessions },
    own: () => ({ host, port: door.port, names: [...settings.names, ...always], base: settings.base }),
    runDigest: digestOf(credential),
    report: (message, cause) => books.report(message, cause),
  };
  const door = opened ?? new Door(settings);
  let loaded: Promise<AdminServer> | undefined;
  const answer = async (request: Request, address: string): Promise<Response> => {
    const server = await (loaded ??= load(options, version, declared));
    return server.handle(request, address);
  };
  const written = host.includes(":") ? `[${host}]` : host;
  const { port } = door;
  door.serve(answer);
  return {
    url: `http://${written}:${port}`,
    port,
    ...(link && { token: link.token }),
    share: () => door.share(),
    leave: () => door.leave(),
    stop: () => door.stop(),
  };
}

/** The operations and their schemas take 1 MB of memory, and most gateways get no request of the admin API. */
async function load(
  options: Omit<AdminServerOptions, "operations">,
  version: string,
  declared: LoadDeclarations,
): Promise<AdminServer> {
  const [{ listOperations }, { AdminServer }, { columns, keyOptions, operations }] = await Promise.all([
    import("./operations/index.ts"),
    import("./server.ts"),
    declared(),
  ]);
  return new AdminServer({
    ...options,
    operations: listOperations(version, columns, keyOptions, operations),
    pages: operations,
  });
}

function isActiveAdmin({ kind, revokedAt }: { kind: string; revokedAt?: number }): boolean {
  return kind === "admin" && revokedAt === undefined;
}
