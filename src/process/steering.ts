/**
 * Says which processes of those that share a port get its new connections. Linux gives each listener a part of them, and resets
 * those in the queue of a listener that closes. So before the processes of one gateway close theirs, all new connections must go
 * to the processes of the next one. A filter at the port does that: a program of four instructions in the system's packet filter
 * (BPF), which names a listener by its place among those of the port.
 */
import { withLibrary } from "./library.ts";
import { packetFilter } from "./packet-filter.ts";
import { ownSockets, socketsAt } from "./socket-table.ts";

/**
 * `spread`: to all of the newest listeners. `one`: to the first of them, whose place stays the same while earlier ones close, if
 * these are not more. `free`: as without a filter.
 */
export type Steer = "spread" | "one" | "free";

/** Constants of Linux. */
const SOL_SOCKET = 1;
const SO_ATTACH_REUSEPORT_CBPF = 51;
const SO_DETACH_REUSEPORT_BPF = 68;

/** Instructions of the packet filter: load a random number, keep its remainder, add, and answer with the result. */
const LOAD = 0x20;
const RANDOM = 0xfffff000 + 56;
const REMAINDER = 0x94;
const ADD = 0x04;
const ANSWER = 0x16;

/** Before the filter is removed, earlier listeners have so long to close. */
const LOOKS = 50;
const LOOK_MS = 20;

/** A listener of this process, among all of its port. */
interface Own {
  fd: number;
  /** Number of listeners at the same address and port, of all processes. */
  listeners: number;
}

/**
 * Steers the new connections of a port on which this process listens.
 * @param newest number of listeners that get them: the last ones that began to listen
 * @throws Error with one sentence where the system cannot do it
 */
export async function steer(port: number, how: Steer, newest: number): Promise<void> {
  let own = ownListener(port);
  // Without the filter, earlier listeners would get connections again.
  for (let looks = 0; how === "free" && own && own.listeners > newest && looks < LOOKS; looks++) {
    await Bun.sleep(LOOK_MS);
    own = ownListener(port);
  }
  if (!own) throw new Error(`this process does not listen on port ${port}`);
  if (how === "free") return setOption(own.fd, SO_DETACH_REUSEPORT_BPF, new Uint8Array(4));
  const first = own.listeners - newest;
  if (first <= 0) return;
  const count = how === "one" ? 1 : newest;
  const filter = await packetFilter([
    [LOAD, RANDOM],
    [REMAINDER, count],
    [ADD, first],
    [ANSWER, 0],
  ]);
  await setOption(own.fd, SO_ATTACH_REUSEPORT_CBPF, filter.head);
}

/** @throws Error with one sentence */
async function setOption(fd: number, option: number, value: Uint8Array): Promise<void> {
  const code = await withLibrary((library, ptr) =>
    library.setsockopt(fd, SOL_SOCKET, option, ptr(value), value.byteLength),
  );
  if (code !== 0) throw new Error("the system does not let weir say which process gets new connections");
}

function ownListener(port: number): Own | undefined {
  if (process.platform !== "linux") return undefined;
  const all = socketsAt(port, "listening");
  const sockets = ownSockets();
  for (const { address, inode } of all) {
    const fd = sockets.get(inode);
    if (fd !== undefined) return { fd, listeners: all.filter((one) => one.address === address).length };
  }
  return undefined;
}
