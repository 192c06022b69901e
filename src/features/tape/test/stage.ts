/** A gateway that records a tape or answers from one, in this process. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../config/load.ts";
import { startWeir } from "../../../run/weir.ts";
import { readTape } from "../../../tapes/file.ts";
import { VERSION } from "../../../process/version.ts";
import { SECTIONS } from "../../../../test/helpers/features.ts";
import { tapePart } from "../part.ts";
import { makePlayer, makeRecorder } from "../tapes.ts";

export interface TapeOptions {
  /** Content of `weir.yaml`. */
  config?: Record<string, unknown>;
  env?: Record<string, string>;
}

export interface Replaying {
  /** What was said about requests that are not on the tape. */
  misses: string[];
  /** Number of recorded calls for which no request came. */
  unused(): number;
}

/** One tape, and the gateways that use it. */
export class TapeStage {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<TapeStage> {
    return new TapeStage(await mkdtemp(join(tmpdir(), "weir-tape-")));
  }

  get file(): string {
    return join(this.folder, "job.tape");
  }

  get entries() {
    return readTape(this.file, VERSION);
  }

  /** @param use gets the URL of a gateway that records */
  async record<Value>(use: (url: string) => Promise<Value>, options: TapeOptions = {}): Promise<Value> {
    const weir = await this.#start(options, (tools) => makeRecorder(this.file, this.folder, tools).tape);
    return use(weir.url).finally(() => weir.stop());
  }

  /** @param use gets the URL of a gateway that answers from the tape */
  async replay<Value>(
    use: (url: string, replaying: Replaying) => Promise<Value>,
    options: TapeOptions & { keepsTime?: boolean } = {},
  ): Promise<Value> {
    const misses: string[] = [];
    const onMiss = (text: string) => void misses.push(text);
    const player = makePlayer(this.file, this.folder, { keepsTime: options.keepsTime ?? false, onMiss });
    const weir = await this.#start(options, (tools) => player.open(tools));
    return use(weir.url, { misses, unused: () => player.unused }).finally(() => weir.stop());
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }

  async #start({ config: written = {}, env = {} }: TapeOptions, open: Parameters<typeof tapePart>[0]) {
    await Bun.write(join(this.folder, "weir.yaml"), JSON.stringify(written));
    const { config } = loadConfig({ flags: { "--port": "0" }, env, cwd: this.folder, sections: SECTIONS });
    return startWeir({ config, env, write: () => {}, workers: [tapePart(open)] });
  }
}
