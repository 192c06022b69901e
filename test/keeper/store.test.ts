/** The store in memory and in a file, in one thread. */
import { afterAll, describe, setDefaultTimeout } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "./direct-link.ts";
import { IN_MEMORY } from "../../src/keeper/settings.ts";
import { describeStore, type OpenStore } from "./suite.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "weir-store-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LIMITS = { answerBytes: 100_000, items: 40 };
let files = 0;

async function open(path: string): Promise<OpenStore> {
  let now = 0;
  const store = openStore(path, LIMITS, () => now);
  return { store, setTime: (time) => void (now = time), close: () => store.close() };
}

describe("in memory", () => describeStore(() => open(IN_MEMORY), LIMITS));
describe("in a file", () => describeStore(() => open(join(folder, `${files++}.db`)), LIMITS));
