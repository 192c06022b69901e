/** Machines for tests: network namespaces that reach the test over a link of their own. They need root and iproute2. */
import { spawnSync } from "node:child_process";

export interface Machine {
  /** The address on which programs of the machine can be reached. */
  address: string;
  /** The address at which they reach the test. */
  test: string;
  /** Starts a program on the machine: what stands in front of its command. */
  command: readonly string[];
}

const ip = (...args: string[]): boolean => spawnSync("ip", args).status === 0;

/**
 * Makes machines; where that is not allowed, all are this one.
 * @returns them, and a function that removes them
 */
export function makeMachines(count: number): { machines: Machine[]; areSeparate: boolean; remove(): void } {
  const base = process.pid % 200;
  const names = Array.from({ length: count }, (_, at) => `weir-${process.pid}-${at}`);
  const remove = () => names.forEach((name) => ip("netns", "del", name));
  const machines = names.map((name, at): Machine | undefined => {
    const [own, peer] = [`wr${process.pid}${at}a`, `wr${process.pid}${at}b`];
    const net = `10.${213 + at}.${base}`;
    const isMade =
      process.getuid?.() === 0 &&
      ip("netns", "add", name) &&
      ip("link", "add", own, "type", "veth", "peer", "name", peer, "netns", name) &&
      ip("addr", "add", `${net}.1/24`, "dev", own) &&
      ip("link", "set", own, "up") &&
      ip("-n", name, "addr", "add", `${net}.2/24`, "dev", peer) &&
      ip("-n", name, "link", "set", peer, "up") &&
      ip("-n", name, "link", "set", "lo", "up");
    if (!isMade) return undefined;
    return { address: `${net}.2`, test: `${net}.1`, command: ["ip", "netns", "exec", name] };
  });
  if (machines.every((machine) => machine !== undefined)) return { machines, areSeparate: true, remove };
  remove();
  const local: Machine = { address: "127.0.0.1", test: "127.0.0.1", command: [] };
  return { machines: names.map(() => local), areSeparate: false, remove: () => {} };
}
