/** Listeners of this process, as the system has them: the runtime can neither share one later nor close it alone. Linux only. */
import { closeSync, openSync } from "node:fs";
import { withLibrary } from "./library.ts";
import { ownSockets, socketsAt } from "./socket-table.ts";

/** Constants of Linux. */
const SOL_SOCKET = 1;
const SO_REUSEPORT = 15;

/**
 * From now on another process of this user may listen at a port too, where this one listens alone.
 * @throws Error with one sentence where the system cannot do it
 */
export async function shareListening(port: number): Promise<void> {
  const own = ownListeners(port);
  const isShared = await withLibrary(({ setsockopt }, ptr) =>
    own.every((fd) => setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, ptr(new Int32Array([1])), 4) === 0),
  );
  if (own.length === 0 || !isShared) throw new Error(`the system does not let weir share port ${port}`);
}

/**
 * Ends all listeners of this process at a port, and leaves its connections as they are. A server of the runtime that stops closes each
 * connection with the end of its answer, though the answer has said that the connection stays: a proxy that sends the next request in
 * that moment loses it. Connections that were not accepted are reset.
 * @returns false where the system cannot do it; they then still listen
 */
export async function stopListening(port: number): Promise<boolean> {
  const own = ownListeners(port);
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

/** Descriptors. */
function ownListeners(port: number): number[] {
  if (process.platform !== "linux") return [];
  const sockets = ownSockets();
  return socketsAt(port, "listening").flatMap(({ inode }) => sockets.get(inode) ?? []);
}
