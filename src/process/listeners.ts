/** Listeners of this process, as the system has them: the runtime can neither share one later nor close it alone. Linux only. */
import { closeSync, openSync } from "node:fs";
import { withLibrary } from "./library.ts";
import { type Instruction, packetFilter } from "./packet-filter.ts";
import { ownSockets, socketsAt } from "./socket-table.ts";

/** Constants of Linux. */
const SOL_SOCKET = 1;
const SO_REUSEPORT = 15;
const SO_ATTACH_FILTER = 26;

/**
 * A program that drops what begins a connection: it loads the flags of the TCP header, keeps SYN and ACK, and compares with SYN alone.
 * The client tries again after a second, and is refused then.
 */
const NO_NEW: readonly Instruction[] = [
  [0x30, 13],
  [0x54, 0x12],
  [0x15, 0x02, 0, 1],
  [0x06, 0],
  [0x06, 0xffffffff],
];
/** In this time the runtime accepts the connections in the queue of a listener. Milliseconds. */
const ACCEPT_MS = 150;

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
 * that moment loses it. A listener that ends resets what is in its queue, so the queue gets nothing new before.
 * @returns false where the system cannot do it; they then still listen
 */
export async function stopListening(port: number): Promise<boolean> {
  const own = ownListeners(port);
  if (own.length === 0) return false;
  await refuseNew(own);
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

/** Lets listeners accept what is in their queues, and no more. Where the system cannot do it, they end with what is there. */
async function refuseNew(listeners: readonly number[]): Promise<void> {
  const filter = await packetFilter(NO_NEW);
  await withLibrary(({ setsockopt }, ptr) => {
    for (const fd of listeners)
      setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, ptr(filter.head), filter.head.byteLength);
  }).catch(() => {});
  await Bun.sleep(ACCEPT_MS);
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
