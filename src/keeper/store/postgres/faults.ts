/** Failures of PostgreSQL, in sentences. */

import { StoreLost } from "../store.ts";

/** SQLSTATE of a server that ends, starts, has no room for a connection, or is a read-only copy; `08` are broken connections. */
const LOST_STATES: readonly string[] = ["57P01", "57P02", "57P03", "53300", "25006"];

/** Why weir does not use a connection that has lost its settings. */
export const POOLED =
  "a pooler is in between that drops the settings of connections, such as pgbouncer; name the server itself in store, as weir has a pool of its own";

interface Fault {
  /** Of Bun's client: `ERR_POSTGRES_…`. */
  code?: unknown;
  /** SQLSTATE of the server. */
  errno?: unknown;
}

/** Whether a failure comes from the connection or the state of the server, and not from the statement. */
export function isLoss(cause: unknown): boolean {
  if (cause instanceof StoreLost) return true;
  const { code, errno } = (cause ?? {}) as Fault;
  if (typeof errno === "string") return LOST_STATES.includes(errno) || errno.startsWith("08");
  return typeof code === "string" && /CONNECTION|TIMEOUT|ECONN|ENOTFOUND|DNS|EHOST|ENET/.test(code);
}

/** The meaning of a failure, for the operator. It never contains the password of the connection. */
export function sentenceOf(cause: unknown): string {
  if (cause instanceof StoreLost) return cause.message;
  const { code, errno } = (cause ?? {}) as Fault;
  const message = cause instanceof Error ? cause.message : String(cause);
  if (errno === "28P01" || errno === "28000") return `PostgreSQL refused the login: ${message}`;
  if (errno === "3D000") return `PostgreSQL has no such database: ${message}`;
  if (errno === "08P01" && message.includes("startup parameter"))
    return `PostgreSQL cannot be used: ${POOLED}`;
  if (typeof code === "string" && /VERIFY|CERT|SELF_SIGNED/.test(code))
    return `PostgreSQL cannot be used: its certificate is not trusted for this host (${message}); sslrootcert=FILE in the URL names its authority`;
  if (isLoss(cause)) return `PostgreSQL cannot be reached: ${message} (${String(errno ?? code)})`;
  return `PostgreSQL failed: ${message}`;
}
