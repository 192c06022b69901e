/**
 * Closes a listener and leaves its connections as they are. A server of the runtime that stops closes each connection with the end of
 * its answer, though the answer has said that the connection stays: a proxy that sends the next request in that moment loses it.
 */
import { closeSync, openSync } from "node:fs";
import { withLibrary } from "./library.ts";
import { ownSockets, socketsAt } from "./socket-table.ts";

/**
 * Ends all listeners of this process at a port. Connections that it has not accepted are reset.
 * @returns false where the system cannot do it; they then still listen
 */
export async function stopListening(port: number): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const sockets = ownSockets();
  const own = socketsAt(port, "listening").flatMap(({ inode }) => sockets.get(inode) ?? []);
  if (own.length === 0) return false;
  // The runtime keeps the descriptor, which is another file from now on.
  const nothing = openSync("/dev/null", "r");
  try {
    return await withLibrary(({ dup2 }) => own.every((fd) => dup2(nothing, fd) === fd));
  } catch {
    return false;
  } finally {
    closeSync(nothing);
  }
}

/** Whether a client is still connected to this process at a port. */
export function hasConnections(port: number): boolean {
  const all = socketsAt(port, "established");
  if (all.length === 0) return false;
  const sockets = ownSockets();
  return all.some(({ inode }) => sockets.has(inode));
}
