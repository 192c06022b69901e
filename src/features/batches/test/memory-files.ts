/** Files in memory, for tests of batches alone. */
import { type FileFacts, type KeptFile, type KeptFiles, keptFiles } from "../../../core/kept-files.ts";
import type { Feature } from "../../../feature/feature.ts";
import { createKeptId } from "../../../core/kept-id.ts";
import { fileIdIn } from "../shapes/ids.ts";

export class MemoryFiles implements KeptFiles {
  readonly files = new Map<string, { file: KeptFile; bytes: Buffer; holders: Set<string> }>();

  async find(id: string): Promise<KeptFile | undefined> {
    return this.files.get(fileIdIn(id) ?? "")?.file;
  }

  async *read({ id }: KeptFile): AsyncGenerator<Uint8Array, void> {
    const { bytes } = this.files.get(id)!;
    for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
  }

  async write(
    facts: FileFacts,
    bytes: AsyncIterable<Uint8Array>,
    id = createKeptId(Date.now()),
  ): Promise<KeptFile> {
    const pieces: Buffer[] = [];
    for await (const piece of bytes) pieces.push(Buffer.from(piece));
    const whole = Buffer.concat(pieces);
    const file = { ...facts, id, bytes: whole.length, createdAt: Date.now() };
    this.files.set(file.id, { file, bytes: whole, holders: new Set() });
    return file;
  }

  async remove(id: string): Promise<void> {
    this.files.delete(id);
  }

  async hold(id: string, by: string): Promise<void> {
    this.files.get(id)?.holders.add(by);
  }

  async release(id: string, by: string): Promise<void> {
    this.files.get(id)?.holders.delete(by);
  }

  /** @param lines JSON values */
  input(lines: readonly unknown[], purpose = "batch"): Promise<KeptFile> {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const facts = { path: "/", name: "in.jsonl", purpose, mime: "application/jsonl" };
    return this.write(
      facts,
      (async function* () {
        yield Buffer.from(text);
      })(),
    );
  }

  /** @param id with or without a prefix */
  lines(id: string): Record<string, unknown>[] {
    const { bytes } = this.files.get(fileIdIn(id)!)!;
    return bytes
      .toString()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** A feature that gives the files to others. */
  get feature(): Feature {
    const files = this as KeptFiles;
    return {
      name: "memory-files",
      worker: async () => ({
        start(host) {
          keptFiles.set(host.offers, files);
          return { seams: () => undefined };
        },
      }),
    };
  }
}
