/** The folders of programs: each runs in an empty one of its own, and may have a lasting one. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeFileError } from "../../../../core/system-error.ts";
import type { ServiceHost } from "../../../../service/seams.ts";

const PRIVATE = { recursive: true, mode: 0o700 } as const;

/** How often weir tries to remove a folder, and the pause between. Milliseconds. */
const TRIES = 5;
const TRY_MS = 50;

export class Folders {
  readonly #host: Pick<ServiceHost, "folder" | "info">;
  /** Where nothing outlives the gateway. */
  #temporary: string | undefined;
  #runs: string | undefined;

  constructor(host: Pick<ServiceHost, "folder" | "info">) {
    this.#host = host;
  }

  /** An empty folder that only this user can read. @throws Error of the system */
  make(): string {
    this.#runs ??= this.#makeRuns();
    return mkdtempSync(join(this.#runs, "program-"));
  }

  /** A program may have filled its folder, or locked it. */
  async remove(folder: string): Promise<void> {
    for (let tries = 1; ; tries++)
      try {
        return await rm(folder, { recursive: true, force: true });
      } catch (cause) {
        // A folder inside may be removed at the same time.
        if (tries < TRIES) await Bun.sleep(TRY_MS);
        else return this.#host.info(`the folder ${folder} of a program stays: ${describeFileError(cause)}`);
      }
  }

  /** The lasting folder of a server for one owner. @param owner any text @throws Error of the system */
  lasting(server: string, owner: string): string {
    const name = createHash("sha256").update(owner).digest("hex").slice(0, 32);
    const folder = join(this.#root(), "kept", server, name);
    mkdirSync(folder, PRIVATE);
    return folder;
  }

  /** Removes all but the lasting ones. */
  async close(): Promise<void> {
    const own = [this.#runs, this.#temporary].filter((folder) => folder !== undefined);
    this.#runs = this.#temporary = undefined;
    for (const folder of own) await this.remove(folder);
  }

  #root(): string {
    return this.#host.folder() ?? (this.#temporary ??= mkdtempSync(join(tmpdir(), "weir-tools-")));
  }

  #makeRuns(): string {
    const all = join(this.#root(), "run");
    mkdirSync(all, PRIVATE);
    // A process that was killed could not remove its own.
    for (const name of readdirSync(all)) if (!isRunning(name)) void this.remove(join(all, name));
    // Processes of containers have the same id again and again.
    return mkdtempSync(join(all, `${process.pid}-`));
  }
}

/** @param name its id, and something that tells it apart */
function isRunning(name: string): boolean {
  const pid = Number.parseInt(name);
  if (pid === process.pid) return false;
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}
