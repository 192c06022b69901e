/** What the process tells the workers, for pins and operators: lists of servers, and how servers are. */
import type { Watched } from "../asks.ts";
import type { Connection } from "../servers/connection.ts";
import type { Repair } from "../servers/repairs.ts";
import type { Server } from "../servers/server.ts";
import type { Pieces } from "./pieces.ts";

export class Watchers {
  readonly #watching = new Set<Pieces>();
  /** The last word on each server, for a worker that comes later. */
  readonly #last = new Map<string, Watched>();

  watch(pieces: Pieces, stop: AbortSignal): void {
    this.#watching.add(pieces);
    stop.addEventListener("abort", () => void this.#watching.delete(pieces), { once: true });
    for (const value of this.#last.values()) pieces.push({ value });
  }

  listed({ name }: Server, definitions: Extract<Watched, { definitions: unknown }>["definitions"]): void {
    this.#tell(`list ${name}`, { server: name, definitions });
  }

  met({ name }: Server, met: Connection | { readonly reason: string }): void {
    const report = { server: name, at: Date.now() };
    if ("reason" in met) return this.#tell(name, { report: { ...report, isUp: false, reason: met.reason } });
    const { era, facts } = met;
    const { name: own, version } = facts.info;
    const info = {
      ...(typeof own === "string" && { name: own }),
      ...(typeof version === "string" && { version }),
    };
    this.#tell(name, { report: { ...report, isUp: true, era, version: facts.version, info } });
  }

  /** One worker counts it: metrics of all workers are one sum. */
  repaired({ name }: Server, repaired: Repair): void {
    for (const pieces of this.#watching) return pieces.push({ value: { server: name, repaired } });
  }

  forget(name: string): void {
    this.#last.delete(name);
    this.#last.delete(`list ${name}`);
  }

  #tell(key: string, value: Watched): void {
    this.#last.set(key, value);
    for (const pieces of this.#watching) pieces.push({ value });
  }
}
