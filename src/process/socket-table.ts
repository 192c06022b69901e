/** The TCP sockets of a port, as Linux lists them. Elsewhere there are none. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** States of a socket, in hexadecimal. */
export type State = "listening" | "established";

const CODES: Readonly<Record<State, string>> = { established: "01", listening: "0A" };

export interface TcpSocket {
  address: string;
  inode: string;
}

/** The sockets of all processes whose own port this is. */
export function socketsAt(port: number, state: State): TcpSocket[] {
  return ["tcp", "tcp6"].flatMap((table) => socketsIn(`/proc/self/net/${table}`, port, CODES[state]));
}

/** The descriptors of this process, by the inodes of their sockets. */
export function ownSockets(): Map<string, number> {
  return new Map(
    readdirSync("/proc/self/fd").flatMap((fd): [string, number][] => {
      try {
        const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1];
        return inode === undefined ? [] : [[inode, Number(fd)]];
      } catch {
        // It was closed meanwhile.
        return [];
      }
    }),
  );
}

/** A row begins with its number, the own address in hexadecimal, the other address and the state; the tenth column is the inode. */
function socketsIn(table: string, port: number, code: string): TcpSocket[] {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  try {
    return readFileSync(table, "latin1")
      .split("\n")
      .map((row) => row.trim().split(/\s+/))
      .filter(([, address = "", , state]) => state === code && address.endsWith(ending))
      .map(([, address = "", , , , , , , , inode = ""]) => ({ address: `${table} ${address}`, inode }));
  } catch {
    return [];
  }
}
