/** Files in a folder beside the state, for tests of batches in several processes: `BATCHES_FILES` names it. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FileFacts, type KeptFile, type KeptFiles, keptFiles } from "../../../core/kept-files.ts";
import type { Feature } from "../../../feature/feature.ts";
import { createKeptId } from "../../../core/kept-id.ts";
import { fileIdIn } from "../shapes/ids.ts";

export class FolderFiles implements KeptFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  async find(id: string): Promise<KeptFile | undefined> {
    const path = this.#path(fileIdIn(id) ?? "none", "facts");
    return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as KeptFile) : undefined;
  }

  async *read({ id }: KeptFile): AsyncGenerator<Uint8Array, void> {
    yield readFileSync(this.#path(id, "bytes"));
  }

  async write(
    facts: FileFacts,
    bytes: AsyncIterable<Uint8Array>,
    id = createKeptId(Date.now()),
  ): Promise<KeptFile> {
    const whole = Buffer.concat(await Array.fromAsync(bytes));
    const file = { ...facts, id, bytes: whole.length, createdAt: Date.now() };
    writeFileSync(this.#path(file.id, "bytes"), whole);
    writeFileSync(this.#path(file.id, "new"), JSON.stringify(file));
    renameSync(this.#path(file.id, "new"), this.#path(file.id, "facts"));
    return file;
  }

  async remove(id: string): Promise<void> {
    rmSync(this.#path(id, "facts"), { force: true });
  }

  async hold(id: string, by: string): Promise<void> {
    writeFileSync(this.#path(id, `held-${by}`), "");
  }

  async release(id: string, by: string): Promise<void> {
    rmSync(this.#path(id, `held-${by}`), { force: true });
  }

  isHeld(id: string, by: string): boolean {
    return existsSync(this.#path(id, `held-${by}`));
  }

  /** @param lines JSON values */
  input(lines: readonly unknown[]): Promise<KeptFile> {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const facts = { path: "/", name: "in.jsonl", purpose: "batch", mime: "application/jsonl" };
    return this.write(
      facts,
      (async function* () {
        yield Buffer.from(text);
      })(),
    );
  }

  /** @param id with or without a prefix; undefined: there is no file @returns JSON values */
  lines(id: string | undefined): ResultLine[] {
    if (id === undefined) return [];
    const text = readFileSync(this.#path(fileIdIn(id)!, "bytes"), "utf8");
    return text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as ResultLine);
  }

  #path(id: string, what: string): string {
    return join(this.#folder, `${id}.${what}`);
  }
}

export interface ResultLine {
  readonly custom_id: string;
  readonly response: { readonly status_code: number } | null;
  readonly error: { readonly code: string } | null;
}

/** Of the gateways that tests start. */
export const folderFiles: Feature = {
  name: "folder-files",
  worker: async () => ({
    start(host) {
      keptFiles.set(host.offers, new FolderFiles(process.env["BATCHES_FILES"]!));
      return { seams: () => undefined };
    },
  }),
};
