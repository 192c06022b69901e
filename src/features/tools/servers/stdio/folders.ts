/** The folders of programs: each runs in an empty one of its own, and may have a lasting one. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServiceHost } from "../../../../service/seams.ts";

const PRIVATE = { recursive: true, mode: 0o700 } as const;

export class Folders {
  readonly #host: Pick<ServiceHost, "folder">;
  /** Where nothing outlives the gateway. */
  #temporary: string | undefined;
  #runs: string | undefined;

  constructor(host: Pick<ServiceHost, "folder">) {
    this.#host = host;
  }

  /** An empty folder that only this user can read. @throws Error of the system */
  make(): string {
    this.#runs ??= this.#makeRuns();
    return mkdtempSync(join(this.#runs, "program-"));
  }

  remove(folder: string): void {
    rmSync(folder, { recursive: true, force: true });
  }

  /** The folder of a server that whoever it is kept for finds again. @param owner any text @throws Error of the system */
  lasting(server: string, owner: string): string {
    const name = createHash("sha256").update(owner).digest("hex").slice(0, 32);
    const folder = join(this.#root(), "kept", server, name);
    mkdirSync(folder, PRIVATE);
    return folder;
  }

  /** Removes all but the lasting ones. */
  close(): void {
    if (this.#runs !== undefined) this.remove(this.#runs);
    if (this.#temporary !== undefined) this.remove(this.#temporary);
    this.#runs = this.#temporary = undefined;
  }

  #root(): string {
    return this.#host.folder() ?? (this.#temporary ??= mkdtempSync(join(tmpdir(), "weir-tools-")));
  }

  #makeRuns(): string {
    const all = join(this.#root(), "run");
    mkdirSync(all, PRIVATE);
    // A process that was killed could not remove its own.
    for (const name of readdirSync(all)) if (!isRunning(Number(name))) this.remove(join(all, name));
    const own = join(all, String(process.pid));
    this.remove(own);
    mkdirSync(own, PRIVATE);
    return own;
  }
}

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}
