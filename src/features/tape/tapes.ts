/** Tapes: recorded calls that are answered again without a provider. README.md of this folder explains them. */
import { resolve } from "node:path";
import type { CallTape } from "../../gateway/tape.ts";
import type { TapeTools } from "./part.ts";
import { VERSION } from "../../process/version.ts";
import { createTape, readTape } from "./file.ts";
import { createMask } from "../../gateway/recording/mask.ts";
import { Tape } from "./match.ts";
import { Player } from "./player.ts";
import { Recorder } from "../../gateway/recording/recorder.ts";

/** @throws Error with one sentence if the tape cannot be written */
export function makeRecorder(file: string, folder: string, tools: TapeTools) {
  const write = createTape(resolve(folder, file), VERSION);
  let calls = 0;
  const tape: CallTape = new Recorder({
    write: (entry) => {
      write(entry);
      calls++;
    },
    mask: createMask((text) => tools.hide(text), tools.mask),
    onLost: (sentence) => tools.fault(sentence),
  });
  return {
    tape,
    /** Number of calls on the tape. */
    get calls() {
      return calls;
    },
  };
}

/** @throws Error with one sentence if the file is no tape */
export function makePlayer(
  file: string,
  folder: string,
  options: { keepsTime: boolean; onMiss(text: string): void },
) {
  const entries = readTape(resolve(folder, file), VERSION);
  let tape = new Tape(entries);
  let misses = 0;
  return {
    size: entries.length,
    open(tools: TapeTools): CallTape {
      tape = new Tape(entries, tools.ignore);
      const mask = createMask((text) => tools.hide(text), tools.mask);
      const onMiss = (text: string) => {
        misses++;
        options.onMiss(text);
      };
      return new Player({ tape, name: file, mask, keepsTime: options.keepsTime, onMiss });
    },
    /** Number of requests that the tape lacked. */
    get misses() {
      return misses;
    },
    /** Number of recorded calls for which no request came. */
    get unused() {
      return tape.unused;
    },
  };
}
