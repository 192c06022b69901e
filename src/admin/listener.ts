/** The listener of the admin API. */
import { hostname } from "node:os";
import type { LoadDeclarations } from "./operations/index.ts";
import { isLoopback } from "../core/host-names.ts";
import { describeFileError, systemCode } from "../core/system-error.ts";
import { digestOf } from "../ledger/keys/form.ts";
import type { AdminBooks } from "./books.ts";
import type { AdminServer, AdminServerOptions } from "./server.ts";
import { Sessions } from "./session/sessions.ts";
import { type AdminSettings, DEFAULT_PORT } from "../operator/settings.ts";

export interface AdminListener {
  url: string;
  port: number;
  /** Token of a link that signs in to the console; absent where a key exists for that. */
  token?: string;
  stop(): void;
}

/** Idle timeout of a connection, in seconds; the longest operations read the whole store. */
const IDLE_SECONDS = 255;

/**
 * @throws Error with one sentence if the configured port is taken, or the address can be reached by other machines and there
 * is no admin key
 */
export function startAdmin(
  books: AdminBooks,
  settings: AdminSettings,
  declared: LoadDeclarations,
): AdminListener {
  const { host, credential, version } = settings;
  const isKnown = books.health().degraded.length === 0;
  const hasAdmin = settings.declaresKeys || books.policy().keys.some(isActiveAdmin);
  if (!isLoopback(host) && isKnown && !hasAdmin)
    throw new Error(
      `admin.host ${host} can be reached by other machines, which requires an admin key; set admin.keys in the config, or create one with: weir admin key create NAME`,
    );
  const always = [host, ...(isLoopback(host) ? [] : [hostname()])];
  const sessions = new Sessions();
  const isFirst = (settings.restarts ?? 0) === 0;
  const link = isFirst && isLoopback(host) && isKnown && !hasAdmin ? sessions.addLink(Date.now()) : undefined;
  const options: Omit<AdminServerOptions, "operations"> = {
    ...{ books, sessions },
    own: () => ({ host, port: server.port ?? 0, names: [...settings.names, ...always] }),
    runDigest: digestOf(credential),
    report: (message, cause) => books.report(message, cause),
  };
  let loaded: Promise<AdminServer> | undefined;
  const answer = async (request: Request, address: string): Promise<Response> => {
    const server = await (loaded ??= load(options, version, declared));
    return server.handle(request, address);
  };
  const listen = (port: number) =>
    Bun.serve({
      hostname: host,
      port,
      idleTimeout: IDLE_SECONDS,
      development: false,
      // By default Bun shares the port with other processes of the user when `development` is off.
      reusePort: false,
      fetch: (request, bun) => answer(request, bun.requestIP(request)?.address ?? ""),
    });
  const server = open(listen, settings);
  const written = host.includes(":") ? `[${host}]` : host;
  const port = server.port ?? 0;
  return {
    url: `http://${written}:${port}`,
    port,
    ...(link && { token: link.token }),
    stop: () => void server.stop(true),
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

function open<Server>(listen: (port: number) => Server, { host, port }: AdminSettings): Server {
  try {
    return listen(port ?? DEFAULT_PORT);
  } catch (cause) {
    if (port === undefined && systemCode(cause) === "EADDRINUSE") return listen(0);
    const why = systemCode(cause) === "EADDRINUSE" ? "the port is taken" : describeFileError(cause);
    throw new Error(`the admin API cannot listen on ${host}:${port ?? DEFAULT_PORT}: ${why}`, { cause });
  }
}

function isActiveAdmin({ kind, revokedAt }: { kind: string; revokedAt?: number }): boolean {
  return kind === "admin" && revokedAt === undefined;
}
