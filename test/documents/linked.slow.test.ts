/**
 * The blocks of each document that README.md leads to, as a newcomer pastes them: each document in an empty home and an
 * empty folder of its own, from the first block to the last, from source, and with `WEIR_TARGET=binary` with the executable.
 * A gateway runs at the documents' address where a block asks for one. Vendors are a weir on its mock.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Block, blocksOf, ROOT } from "../helpers/documents.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { CHECKED, checkBlock, linkedDocuments, rowOf, SCENES, type StandIns } from "./linked.ts";
import { type Background, Newcomer } from "./newcomer.ts";

setDefaultTimeout(600_000);

const documents = linkedDocuments().filter((document) => blocksOf(document).length > 0);
const done = { pasted: 0, compared: 0, checked: 0 };
const met = new Set<unknown>();

let vendor: RunningGateway;
let litellm: Bun.Server<undefined>;
let standIns: StandIns;

beforeAll(async () => {
  const names = ["gpt-*", "claude-*", "gemini-*", "qwen3", "llama-*", "acme-*"];
  vendor = await startGateway({
    env: { WEIR_STATE: "none" },
    config: { aliases: Object.fromEntries(names.map((name) => [name, "mock/chat"])) },
  });
  const keys = readFileSync(
    join(ROOT, "src/features/import/test/fixtures/litellm/with-keys.keys.json"),
    "utf8",
  );
  litellm = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(keys) });
  standIns = { vendor: vendor.url, litellm: `http://127.0.0.1:${litellm.port}` };
});

afterAll(async () => {
  await vendor?.stop();
  await litellm?.stop(true);
});

/** Blocks that ask the gateway that the reader has started. */
const ASKS =
  /127\.0\.0\.1:9347|\bweir (?:keys|models add|budgets|usage|logs|whatif|reconcile|audit|status|tools)\b/;

/** A reader of one document. */
class Reader {
  readonly newcomer = new Newcomer();
  readonly #document: string;
  #gateway: Background | undefined;
  /** What the terminal showed last. */
  #shown = "";
  readonly #plugins: string[] = [];

  constructor(document: string) {
    this.#document = document;
    this.#scene.prepare?.(this.newcomer, standIns);
    const configs = blocksOf(document).filter(
      ({ language, code }) =>
        language === "yaml" && this.#scene.config?.some((holding) => code.includes(holding)),
    );
    expect(configs.length).toBe(this.#scene.config?.length ?? 0);
    const [first = {}, ...rest] = configs.map(({ code }) => Bun.YAML.parse(code) as Config);
    for (const more of rest)
      for (const [section, entries] of Object.entries(more))
        first[section] = { ...first[section], ...entries };
    if (configs.length > 0) this.newcomer.write("weir.yaml", JSON.stringify(first));
  }

  get #scene() {
    return SCENES[this.#document] ?? {};
  }

  async read(block: Block): Promise<void> {
    if (block.language === "sh") return this.#paste(block.code);
    if (block.language === "yaml") return this.#configure(block.code);
    if (block.language === "ts") return this.#program(block.code);
    // A block without a language is what the block before it shows, but for times.
    const shown = this.#shown.replaceAll(/\d+ms/g, "1ms");
    for (const line of block.code.trim().split("\n")) expect(shown).toContain(line);
    done.compared++;
  }

  async #paste(code: string): Promise<void> {
    if (ASKS.test(code) && !this.#gateway) {
      this.#gateway = this.newcomer.start("weir");
      await this.#gateway.shows("  try: ");
    }
    let block = code;
    for (const [from, to] of Object.entries(this.#scene.replace?.(standIns) ?? {}))
      block = block.replaceAll(from, to);
    // The drill ends with 1 because the stand-in of a client is bad at some faults.
    const isDrill = code.includes("weir drill");
    const { code: exit, shown } = await this.newcomer.paste(isDrill ? block : `set -e\n${block}`);
    expect(isDrill ? 0 : exit, `${this.#document}:\n${code}\n${shown}`).toBe(0);
    for (const [holding, wanted] of this.#scene.shows ?? [])
      if (code.includes(holding)) {
        met.add(wanted);
        expect(shown).toMatch(wanted);
      }
    this.#shown = shown;
    done.pasted++;
  }

  async #configure(code: string): Promise<void> {
    for (const [, name] of code.matchAll(/\$\{(\w+)\}/g))
      this.newcomer.set(name!, `something-long-enough-for-a-secret-${name}`);
    for (const name of ["providers.yaml", "conf.d/team.yaml"]) this.newcomer.write(`config/${name}`, "");
    this.newcomer.write("config/weir.yaml", code);
    const { code: exit, shown } = await this.newcomer.paste("cd config && weir check --offline");
    expect(exit, `${this.#document}:\n${code}\n${shown}`).toBe(0);
    done.pasted++;
  }

  async #program(code: string): Promise<void> {
    if (code.includes("definePlugin")) {
      this.newcomer.write(`plugin/plugins/shown-${this.#plugins.push(code)}.ts`, code);
      return;
    }
    // The vendor's gateway needs no key; the reader's may have got some.
    this.newcomer.write("sdk/program.ts", code.replaceAll("http://127.0.0.1:9347", standIns.vendor));
    this.newcomer.installSdks("sdk");
    const { code: exit, shown } = await this.newcomer.paste("npx -y bun@1.4.5 sdk/program.ts");
    expect(exit, `${this.#document}:\n${code}\n${shown}`).toBe(0);
    done.pasted++;
  }

  /** Ends with the plugins, which load together. */
  async finish(): Promise<void> {
    if (this.#plugins.length === 0) return;
    const { shown } = await this.newcomer.paste("cd plugin && weir plugin list");
    for (const [index, code] of this.#plugins.entries())
      expect(shown, code).toMatch(new RegExp(`^${nameOf(code)} .*shown-${index + 1}\\.ts`, "m"));
    done.pasted += this.#plugins.length;
  }

  async leave(): Promise<void> {
    await this.#gateway?.stop();
    await this.newcomer.leave();
  }
}

type Config = Record<string, Record<string, unknown>>;

const nameOf = (plugin: string) => /definePlugin\(\{\s*name: "([\w-]+)"/.exec(plugin)?.[1];

describe.concurrent("the blocks of", () => {
  for (const document of documents)
    test(document, async () => {
      let reader: Reader | undefined;
      try {
        for (const block of blocksOf(document)) {
          const row = rowOf(document, block);
          if (row) {
            met.add(row);
            expect(checkBlock(block, row.why), `${document}:\n${block.code}`).toEqual([]);
            done.checked++;
          } else {
            reader ??= new Reader(document);
            await reader.read(block);
          }
        }
        await reader?.finish();
      } finally {
        await reader?.leave();
      }
    });
});

test("every block was read, and every row of the tables has one", () => {
  const { pasted, compared, checked } = done;
  console.log(
    `blocks of ${documents.length} documents: ${pasted} run, ${compared} compared, ${checked} only checked`,
  );
  expect(pasted + compared + checked).toBe(documents.flatMap(blocksOf).length);
  const unused = CHECKED.filter((row) => !met.has(row));
  const unshown = Object.values(SCENES).flatMap(({ shows = [] }) =>
    shows.filter(([, wanted]) => !met.has(wanted)),
  );
  expect([unused, unshown, Object.keys(SCENES).filter((name) => !documents.includes(name))]).toEqual([
    [],
    [],
    [],
  ]);
});
