/** Files of results, where runners end between writing them and the end of their batch. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileFacts, KeptFile } from "../../../core/kept-files.ts";
import { Journal } from "../journal/journal.ts";
import { writeResults } from "../run/results.ts";
import { LineSeal } from "../run/seal.ts";
import { MemoryFiles } from "./memory-files.ts";
import { sampleBatch } from "./sample.ts";

const batch = sampleBatch({ lines: 2 });
const owner = { path: "/eng", address: "" };
const seal = new LineSeal(Buffer.alloc(32, 7).toString("base64url"), batch.id);
let folder: string;

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "weir-results-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Files whose process ends at one of these moments. */
class EndingFiles extends MemoryFiles {
  left = Infinity;
  isStored = true;

  override async write(facts: FileFacts, bytes: AsyncIterable<Uint8Array>, id?: string): Promise<KeptFile> {
    const isLast = this.left-- === 0;
    if (isLast && !this.isStored) throw new Error("killed");
    const file = await super.write(facts, bytes, id);
    if (isLast) throw new Error("killed");
    return file;
  }
}

async function journalOf(fence: number): Promise<Journal> {
  const journal = await Journal.open(folder, fence);
  for (const [n, to] of [
    [1, "out"],
    [2, "err"],
  ] as const)
    if (journal.lines.stateOf(n) === "fresh") {
      await journal.start(n, 1, `req_${n}`);
      await journal.end(n, 1, to, seal.seal(Buffer.from(`{"custom_id":"l${n}"}`), n), 0);
    }
  return journal;
}

for (const [left, isStored] of [
  [0, false],
  [0, true],
  [1, false],
  [1, true],
  [2, true],
] as const)
  test(`a runner that ends ${isStored ? "behind" : "before"} file ${left + 1} leaves no file behind`, async () => {
    const files = new EndingFiles();
    Object.assign(files, { left, isStored });
    const first = await journalOf(1);
    const written = writeResults(first, seal, files, { batch, owner, folder });
    // Behind the second file, the end of the batch is what the runner does not reach.
    expect(await written.catch((cause: Error) => cause.message)).toEqual(
      left < 2 ? "killed" : expect.objectContaining({ outputFile: expect.any(String) }),
    );
    await first.close();
    if (left === 0) appendFileSync(join(folder, "results"), "\n01je8z6");
    files.left = Infinity;
    const second = await journalOf(2);
    const { outputFile, errorFile } = await writeResults(second, seal, files, { batch, owner, folder });
    await second.close();
    expect([...files.files.keys()].sort()).toEqual([outputFile!, errorFile!].sort());
    expect(files.lines(outputFile!)).toEqual([{ custom_id: "l1" }]);
    expect(files.lines(errorFile!)).toEqual([{ custom_id: "l2" }]);
  });
